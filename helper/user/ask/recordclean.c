/* See recordclean.h. Does nothing unless this process is the host's root. */
#include "recordclean.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "../../host/file.h"
#include "../record/containerrecord.h"
#include "../record/grantrecord.h"
#include "../record/recorddir.h"
#include "lease.h"

static void
clean(int dir, const char *name)
{
	if (text_starts(name, GRANT_RECORD_PREFIX) || text_starts(name, GRANT_RECORD_UNCONFIRMED))
		grant_record_clean(dir, name);
	else if (name[0] != '.')
		container_record_clean(dir, name);
}

static int
open_if_there(void)
{
	struct why ignored;

	return record_dir_is_hosts_root() && access(RECORD_DIR, F_OK) == 0 ? record_dir_open(&ignored) : -1;
}

bool
records_are_there(const struct command *c)
{
	char path[sizeof(RECORD_DIR) + LEASE_KEY_SIZE], key[LEASE_KEY_SIZE];

	if (c->id == NULL || !record_dir_is_hosts_root())
		return false;
	lease_key_of(c, key);
	snprintf(path, sizeof(path), RECORD_DIR "/%s", key);
	return access(path, F_OK) == 0 || grant_record_is_there(c);
}

void
records_forget(const struct command *c)
{
	autoclose int dir = open_if_there();
	char key[LEASE_KEY_SIZE];

	if (dir == -1)
		return;
	lease_key_of(c, key);
	clean(dir, key);
	grant_record_forget(c);
}

void
records_clean(void)
{
	autoclose int dir = open_if_there();
	struct dirent *e;
	DIR *d;

	if (dir == -1 || (d = file_list(openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC))) == NULL)
		return;
	while ((e = readdir(d)) != NULL)
		clean(dir, e->d_name);
	closedir(d);
}
