/* See node.h. Never opens a GPU, since opening one has effects: it holds nodes by O_PATH. */
#include "node.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "../../base/cleanup.h"
#include "../../host/access.h"
#include "../../host/file.h"
#include "../../host/hostview.h"
#include "../../host/trust.h"

int
node_parent(const char *path, const char **name, struct why *why)
{
	static char kept[64];
	static int fd = -1;
	char dir[64];
	const char *slash = strrchr(path, '/');

	*name = slash != NULL ? slash + 1 : path;
	if (slash == NULL || slash == path)
		return refuse(why, WHY_BUG, "device %s has no directory", path);
	snprintf(dir, sizeof(dir), "%.*s", (int)(slash - path), path);
	/* most nodes of a grant are in one directory, which is checked once */
	if (fd != -1 && strcmp(dir, kept) == 0)
		return fd;
	if (fd != -1)
		close(fd);
	/* a directory that others may change can still have our changes, and does not count as absent */
	if (trust_find_dir(dir, true, &fd, why) == TRUST_ABSENT)
		why->code = WHY_ABSENT;
	snprintf(kept, sizeof(kept), "%s", dir);
	return fd;
}

int
node_pin(const char *path, uint32_t major, uint32_t minor, struct stat *st, struct why *why)
{
	const char *name;
	int dir, fd;

	/* if another file is mounted over the node for the caller alone, the leases' changes are on the host's node */
	if (hostview_compare(path, WHY_IO, why) == -1)
		return -1;
	if ((dir = node_parent(path, &name, why)) == -1)
		return why->code == WHY_ABSENT ? -2 : -1;
	if ((fd = file_open_beneath(dir, name, O_PATH)) == -1 && errno == ENOENT) {
		refuse(why, WHY_ABSENT, "%s is not there", path);
		return -2;
	}
	if (fd == -1)
		return refuse(why, errno == ELOOP ? WHY_ABSENT : WHY_IO, "%s %s", path,
		    errno == ELOOP ? "is a symbolic link" : strerror(errno));
	if (fstat(fd, st) == -1)
		refuse(why, WHY_IO, "%s: %s", path, strerror(errno));
	else if (!S_ISCHR(st->st_mode))
		refuse(why, WHY_ABSENT, "%s is not a character device: remove it, the driver makes its own", path);
	else if (major(st->st_rdev) != major || minor(st->st_rdev) != minor)
		refuse(why, WHY_ABSENT, "%s is device %u:%u and should be %u:%u: remove it, the driver makes its own",
		    path, major(st->st_rdev), minor(st->st_rdev), major, minor);
	else
		return fd;
	close(fd);
	return -1;
}

bool
node_mode(int fd, const struct stat *st, uint32_t *mode)
{
	int group = access_of_group(fd);

	*mode = (st->st_mode & 0606U) | (group > 0 ? (uint32_t)(group & (R_OK | W_OK)) << 3 : 0);
	return group != -1;
}
