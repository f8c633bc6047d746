/* See mountsabove.h. Opens directories with O_PATH, and reads none. */
#include "mountsabove.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../base/cleanup.h"
#include "../base/path.h"
#include "../host/file.h"

void
mounts_above_free(struct mounts_above *m)
{
	free(m->dir);
	if (m->fd != -1)
		close(m->fd);
	strlist_free(&m->above);
}

int
mounts_above_refuse(const char *path, struct why *why)
{
	return refuse(why, WHY_IO, "%s: the mounts on the way there can't be found: %s", path, strerror(errno));
}

/* Appends the file system path of a directory on this mount. */
static int
add_fs_path(struct strlist *out, const struct mounts_above *m, uint64_t mount, const char *path, const char *shown,
    struct why *why)
{
	autofree char *fs = NULL, *fs_path = NULL, *text = NULL;

	if (!mounts_fs_path_on(m->mounts, mount, path, &fs, &fs_path))
		return mounts_above_refuse(shown, why);
	/* the wrapper gets it in JSON */
	if (!text_is_utf8(fs_path, strlen(fs_path)))
		return refuse(why, WHY_CONFIG, "%s: its path in its own file system is not UTF-8", shown);
	if (asprintf(&text, "%s %s", fs, fs_path) == -1)
		text = NULL;
	return text != NULL && strlist_add(out, text, SIZE_MAX) ? 0 : refuse_nomem(why);
}

/* Opens one directory on the way, and gets its mount. Returns a descriptor, or -1 with *why. */
static int
pin(int from, const char *path, const char *shown, uint64_t *mount, struct why *why)
{
	const int fd = file_open_beneath(from, path, O_PATH | O_DIRECTORY);

	if (fd != -1 && mount_of(fd, mount))
		return fd;
	mounts_above_refuse(shown, why);
	if (fd != -1)
		close(fd);
	return -1;
}

/* Gets the mount of a directory in «from», unless it is known. -1 with *why. */
static int
find_mount(int from, const char *name, const char *shown, uint64_t *mount, struct why *why)
{
	return *mount != 0 || mount_of_dir(from, name, mount) ? 0 : mounts_above_refuse(shown, why);
}

/* Removes the last part of the path. False for "/", which has no directory above it. */
static bool
go_up(char *path)
{
	char *slash = strrchr(path, '/');

	if (slash == path && path[1] == '\0')
		return false;
	slash[slash == path] = '\0';
	return true;
}

/* Notes the directory that a folder is in and, above it, the last directory on each mount. On failure, notes none. */
static int
walk_up(struct mounts_above *m, const char *dir, const char *shown, struct why *why)
{
	autofree char *path = strdup(dir);
	uint64_t mount, last = 0;
	int fd, ret = 0;
	bool more;

	mounts_above_free(m);
	*m = (struct mounts_above)MOUNTS_ABOVE(m->mounts);
	if (path == NULL)
		return refuse_nomem(why);
	for (more = true; ret == 0 && more; more = go_up(path)) {
		if ((fd = pin(file_root(), path[1] != '\0' ? path + 1 : ".", shown, &mount, why)) == -1)
			return -1;
		if (m->fd == -1 || mount != last)
			ret = add_fs_path(&m->above, m, mount, path, shown, why);
		last = mount;
		if (m->fd == -1)
			m->fd = fd;
		else
			close(fd);
	}
	/* last: mounts_above_find() takes the list for that of dir, so it must be whole by then */
	return ret == 0 && (m->dir = strdup(dir)) == NULL ? refuse_nomem(why) : ret;
}

int
mounts_above_find(struct mounts_above *m, const char *dir, uint64_t mount, const char *shown, struct strlist *at,
    struct why *why)
{
	autofree char *above = strdup(dir);
	size_t i;

	if (above == NULL)
		return refuse_nomem(why);
	if (!go_up(above))
		return find_mount(file_root(), ".", shown, &mount, why) == -1 ? -1 : add_fs_path(at, m, mount, dir, shown, why);
	if ((m->dir == NULL || strcmp(m->dir, above) != 0) && walk_up(m, above, shown, why) == -1)
		return -1;
	if (find_mount(m->fd, path_last(dir), shown, &mount, why) == -1)
		return -1;
	if (add_fs_path(at, m, mount, dir, shown, why) == -1)
		return -1;
	for (i = 0; i < m->above.n; i++)
		if (!strlist_add(at, m->above.v[i], SIZE_MAX))
			return refuse_nomem(why);
	return 0;
}
