/*
 * See mountpoint.h. Any user may have made what is in a source: follows no link in it, and asks no file
 * system mounted in it, unless the policy includes that mount.
 */
#include "mountpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "../../base/cleanup.h"
#include "../../base/path.h"
#include "../../base/pathdepth.h"
#include "../file.h"
#include "mounts.h"

/* The mount that contains the target: the deepest of the first n, which are sorted by depth. */
static const struct edit_mount *
mount_around(const struct edits *e, size_t at, size_t n)
{
	size_t i;

	for (i = n; i > 0; i--)
		if (path_is_beneath(e->mount[at].target, e->mount[i - 1].target))
			return &e->mount[i - 1];
	return NULL;
}

/*
 * True if both directories are on the same mount, so that a bind mount without submounts includes the
 * directory.
 */
static bool
is_same_mount(int fd, int other)
{
	uint64_t a, b;

	return mount_of(fd, &a) && mount_of(other, &b) && a == b;
}

/* True if a mount of «source» has a directory at this relative path. */
static bool
has_dir(int source, const char *path, bool submounts)
{
	autofree char *copy = strdup(path);
	char *part, *save = NULL, *next;
	int dir = -1, fd = -1;

	for (part = copy != NULL ? strtok_r(copy, "/", &save) : NULL; part != NULL; part = next) {
		next = strtok_r(NULL, "/", &save);
		fd = file_open_beneath(dir != -1 ? dir : source, part, O_PATH | O_DIRECTORY);
		if (dir != -1)
			close(dir);
		/*
		 * the last directory may be a mount point: the directory beneath that mount is the one that
		 * counts
		 */
		if (fd != -1 && next != NULL && !submounts && !is_same_mount(fd, source)) {
			close(fd);
			fd = -1;
		}
		if ((dir = fd) == -1)
			return false;
	}
	if (fd != -1)
		close(fd);
	return fd != -1;
}

static int
check(const struct edit_mount *in, const struct edit_mount *around, struct why *why)
{
	const char *rest = in->target + strlen(around->target) + 1;
	const int root = file_root();
	autoclose int source = root != -1 ? file_open_beneath(root, around->source + 1, O_PATH | O_DIRECTORY) : -1;

	if (source == -1)
		return refuse(why, WHY_IO, "folder %s: %s", around->source, strerror(errno));
	if (has_dir(source, rest, strlist_has(&around->options, "rbind")))
		return 0;
	return refuse(why, WHY_CONFIG, "folder %s would be at %s in the container, where %s is read-only and has no directory "
	    "%s: mkdir -p %s/%s, or another target in the policy", in->source, in->target, around->source, rest,
	    around->source, rest);
}

int
mountpoints_check(const struct edits *e, struct why *why)
{
	const struct edit_mount *around;
	size_t i, less = 0;	/* targets of less depth: no other can contain this one */

	for (i = 0; i < e->mounts; i++) {
		if (path_depth(e->mount[i].target) != path_depth(e->mount[less].target))
			less = i;
		around = mount_around(e, i, less);
		if (around != NULL && strlist_has(&around->options, "ro") && check(&e->mount[i], around, why) == -1)
			return -1;
	}
	return 0;
}
