/* See births.h. Runs as the host's root. */
#include "births.h"

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
births_are_ours(void)
{
	return geteuid() == 0 && !namespace_is_own();
}

int
births_open(struct why *why)
{
	int dir;

	if (mkdir(BIRTHS, 0700) == -1 && errno != EEXIST)
		return refuse(why, WHY_IO, BIRTHS ": %s: what is granted could not be noted", strerror(errno));
	if ((dir = trust_open_dir(BIRTHS, true, why)) == -1 || flock(dir, LOCK_EX) == 0)
		return dir;
	close(dir);
	return refuse(why, WHY_IO, BIRTHS ": can't be locked: %s", strerror(errno));
}

static int
write_record(int dir, const char *key, const struct buf *text, struct why *why)
{
	autoclose int fd = -1;

	(void)unlinkat(dir, NEW, 0);
	if ((fd = openat(dir, NEW, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600)) != -1 &&
	    write(fd, text->p, text->len) == (ssize_t)text->len && renameat(dir, NEW, dir, key) == 0)
		return 0;
	refuse(why, WHY_IO, BIRTHS "/%s: %s", key, strerror(errno));
	(void)unlinkat(dir, NEW, 0);
	return -1;
}

int
births_write(const char *name, const struct buf *text, struct why *why)
{
	autoclose int dir = births_open(why);

	return dir == -1 ? -1 : write_record(dir, name, text, why);
}
