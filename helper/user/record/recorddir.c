/* See recorddir.h. Runs as the host's root. */
#include "recorddir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../host/file.h"
#include "../../host/trust.h"
#include "../command/namespace.h"

#define NEW ".new"		/* while it is written, under the lock */

bool
record_dir_is_hosts_root(void)
{
	return geteuid() == 0 && !namespace_is_own();
}

int
record_dir_open(struct why *why)
{
	int dir;

	if (mkdir(RECORD_DIR, 0700) == -1 && errno != EEXIST)
		return refuse(why, WHY_IO, RECORD_DIR ": %s: what is granted could not be noted", strerror(errno));
	if ((dir = trust_open_dir(RECORD_DIR, true, why)) == -1 || flock(dir, LOCK_EX) == 0)
		return dir;
	close(dir);
	return refuse(why, WHY_IO, RECORD_DIR ": can't be locked: %s", strerror(errno));
}

static int
write_file(int dir, const char *key, const struct buf *text, struct why *why)
{
	autoclose int fd = -1;

	(void)unlinkat(dir, NEW, 0);
	if ((fd = openat(dir, NEW, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600)) != -1 &&
	    write(fd, text->p, text->len) == (ssize_t)text->len && renameat(dir, NEW, dir, key) == 0)
		return 0;
	refuse(why, WHY_IO, RECORD_DIR "/%s: %s", key, strerror(errno));
	(void)unlinkat(dir, NEW, 0);
	return -1;
}

int
record_dir_write(const char *name, const struct buf *text, struct why *why)
{
	autoclose int dir = record_dir_open(why);

	return dir == -1 ? -1 : write_file(dir, name, text, why);
}
