/*
 * See folderwalk.h. Opens directories with O_PATH, and asks for nothing but owners, modes and types. Whether a
 * container may use a folder, and which mounts it lies on, is gpuhelper-look's word.
 */
#include "folderwalk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../base/cleanup.h"
#include "../../base/path.h"
#include "../../host/file.h"
#include "../../host/trust.h"
#include "../self/timer.h"

#define WALK_MS 8000		/* it takes microseconds, but a FUSE file system on the way may never answer */

/* The directory that the last folder lies in: the next one is mostly in the same. */
struct parent {
	char *path;		/* NULL: none is open */
	int fd;
};

static void
parent_close(struct parent *d)
{
	if (d->path != NULL)
		close(d->fd);
	free(d->path);
	d->path = NULL;
}

#define autoparent __attribute__((cleanup(parent_close)))

static int
parent_open(struct parent *d, const char *folder, struct why *why)
{
	autofree char *path = path_parent(folder);
	enum trust_found found;
	struct why inner;

	if (path == NULL)
		return refuse_nomem(why);
	if (d->path != NULL && strcmp(d->path, path) == 0)
		return 0;
	parent_close(d);
	if ((found = trust_pin_dir(path, true, &d->fd, &inner)) != TRUST_FOUND)
		return refuse(why, found == TRUST_ABSENT ? WHY_ABSENT : found == TRUST_NO_ACCESS ? WHY_IO : WHY_DENIED,
		    "folder %s: %s", folder, inner.text);
	d->path = path;
	path = NULL;
	return 0;
}

static int
check_all(const struct edits *e, struct why *why)
{
	autoparent struct parent in = { .path = NULL };
	const char *path;
	struct statx st;
	size_t i;

	for (i = 0; i < e->mounts; i++) {
		/* a driver's file has none */
		if (e->mount[i].fs_path == NULL)
			continue;
		path = e->mount[i].source;
		if (parent_open(&in, path, why) == -1)
			return -1;
		/* without asking the folder's own file system, which may never answer */
		if (statx(in.fd, path_last(path), AT_SYMLINK_NOFOLLOW | AT_STATX_DONT_SYNC, STATX_TYPE, &st) == -1)
			return refuse(why, errno == ENOENT ? WHY_ABSENT : WHY_IO, "folder %s: %s", path, strerror(errno));
		if (!S_ISDIR(st.stx_mode))
			return refuse(why, WHY_DENIED, "folder %s: %s", path, S_ISLNK(st.stx_mode) ? "is a symbolic link" :
			    "is not a directory");
	}
	return 0;
}

int
folder_walk_check(const struct edits *e, struct why *why)
{
	int ret;

	end_after(WALK_MS);
	ret = check_all(e, why);
	end_after(0);
	return ret;
}
