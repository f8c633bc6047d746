/*
 * See hostview.h. Assumes that process 1 of the PID namespace is the host's. Asks no file system, and does
 * not follow a link at the end of the path.
 */
#include "hostview.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static int
stat_path(const char *path, struct statx *st)
{
	if (statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW | AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT, STATX_INO, st) == 0)
		return 0;
	return errno == ENOENT || errno == ENOTDIR ? 1 : -1;
}

int
hostview_compare(const char *path, enum why_code code, struct why *why)
{
	struct statx ours, hosts;
	char there[PATH_MAX];
	int here, beyond;

	if ((size_t)snprintf(there, sizeof(there), "/proc/1/root%s", path) >= sizeof(there))
		return refuse(why, WHY_BUG, "%s: too long", path);
	if ((here = stat_path(path, &ours)) == -1)
		return refuse(why, code, "%s: %s", path, strerror(errno));
	if ((beyond = stat_path(there, &hosts)) == -1)
		return refuse(why, code, "%s: %s: can't see what the host has", there, strerror(errno));
	if (here == beyond && (here == 1 || (ours.stx_dev_major == hosts.stx_dev_major &&
	    ours.stx_dev_minor == hosts.stx_dev_minor && ours.stx_ino == hosts.stx_ino)))
		return here;
	return refuse(why, code, "%s here is not the host's: this runs with mounts of its own (of a service with "
	    "PrivateDevices=, TemporaryFileSystem=, InaccessiblePaths= and the like, or of a session by pam_namespace)", path);
}
