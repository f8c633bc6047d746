/* See cgroup.h.  Opens only beneath /sys/fs/cgroup, follows no link, reads only. */
#include "cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "../pure/cleanup.h"
#include "../pure/path.h"
#include "file.h"

#define CANDIDATES_MAX 64
#define DEPTH_MAX 16

/* Adds DIR + PATH if that is a sane relative path; false only for lack of memory. */
static bool
add(struct strlist *out, const char *hierarchy, const char *base, const char *path)
{
	autobuf struct buf b = { 0 };
	struct why why;

	buf_printf(&b, "%s%s%s%s%s", *hierarchy ? "/" : "", hierarchy, strcmp(base, "/") == 0 ? "" : base,
	    *path == '/' ? "" : "/", path);
	if (b.failed)
		return false;
	if (path_check(b.p, &why) == -1 || out->n >= CANDIDATES_MAX || strlist_has(out, b.p + 1))
		return true;
	return strlist_add(out, b.p + 1, SIZE_MAX);
}

/* systemd's «slice:prefix:name»: any scope of that name is enough, wherever its slice lies; expand the slice. */
static bool
add_scope(struct strlist *out, const char *hierarchy, const char *path)
{
	autofree char *copy = strdup(path);
	char *slice = copy, *prefix, *name, *dash;
	autobuf struct buf b = { 0 };

	if (copy == NULL)
		return false;
	if ((prefix = strchr(slice, ':')) == NULL || (name = strchr(prefix + 1, ':')) == NULL)
		return true;
	*prefix++ = '\0';
	*name++ = '\0';
	if (*slice == '\0')
		slice = strcpy(copy, "");
	/* a-b.slice lies in a.slice/a-b.slice (systemd.slice(5)) */
	for (dash = slice; (dash = strchr(dash, '-')) != NULL; dash++)
		buf_printf(&b, "/%.*s.slice", (int)(dash - slice), slice);
	buf_printf(&b, "/%s/%s%s%s.scope", *slice ? slice : "system.slice", prefix, *prefix ? "-" : "", name);
	return !b.failed && add(out, hierarchy, "/", b.p);
}

/* One line of /proc/PID/cgroup: «hierarchy:controllers:path» (cgroups(7)). */
static bool
add_line(struct strlist *out, char *controllers, char *own, const char *path, const char *id)
{
	const char *hierarchy = *controllers == '\0' ? "" : controllers;
	autofree char *parent = NULL;
	char *last;

	if (text_starts(hierarchy, "name="))
		hierarchy += 5;
	if ((parent = strdup(own)) == NULL)
		return false;
	if ((last = strrchr(parent, '/')) != NULL)
		last[last == parent] = '\0';
	if (strchr(path, ':') != NULL)
		return add_scope(out, hierarchy, path) && (*hierarchy != '\0' || add_scope(out, "unified", path));
	if (*path == '/')
		return add(out, hierarchy, "/", path) && (*hierarchy != '\0' || add(out, "unified", "/", path));
	if (*path == '\0')
		path = id;
	return add(out, hierarchy, own, path) && add(out, hierarchy, parent, path) && add(out, hierarchy, "/", path) &&
	    (*hierarchy != '\0' || (add(out, "unified", own, path) && add(out, "unified", parent, path)));
}

int
cgroup_candidates(int pid, const char *cgroups_path, const char *id, struct strlist *out, struct why *why)
{
	autofree char *text = NULL;
	char name[40], *line, *next, *controllers, *own;
	autoclose int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);

	snprintf(name, sizeof(name), "proc/%d/cgroup", pid);
	if (root == -1 || (text = file_read_at(root, name, 65536, NULL)) == NULL)
		return refuse(why, WHY_IO, "/%s: %s", name, strerror(errno));
	for (line = text; line != NULL && *line != '\0'; line = next) {
		if ((next = strchr(line, '\n')) != NULL)
			*next++ = '\0';
		if ((controllers = strchr(line, ':')) == NULL || (own = strchr(++controllers, ':')) == NULL)
			continue;
		*own++ = '\0';
		if (!add_line(out, controllers, own, cgroups_path, id))
			return refuse_nomem(why);
	}
	return 0;
}

/* Where a hierarchy is not mounted, its directory may hold plain files that look alike. */
static bool
is_cgroup(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) == 0 && (fs.f_type == CGROUP_SUPER_MAGIC || fs.f_type == CGROUP2_SUPER_MAGIC);
}

static bool
dir_populated(int dir, unsigned depth)
{
	autofree char *procs = NULL, *events = NULL;
	bool populated = false;
	struct dirent *e;
	int fd;
	DIR *d;

	if ((events = file_read_at(dir, "cgroup.events", 4096, NULL)) != NULL)
		return strstr(events, "populated 1") != NULL;
	procs = file_read_at(dir, "cgroup.procs", 1 << 20, NULL);
	if (procs != NULL ? *procs != '\0' : errno == EFBIG)
		return true;
	if (depth >= DEPTH_MAX || (fd = dup(dir)) == -1)
		return false;
	if ((d = fdopendir(fd)) == NULL) {
		close(fd);
		return false;
	}
	while (!populated && (e = readdir(d)) != NULL) {
		if (e->d_type != DT_DIR || e->d_name[0] == '.')
			continue;
		if ((fd = file_open_beneath(dir, e->d_name, O_RDONLY | O_DIRECTORY)) == -1)
			continue;
		populated = dir_populated(fd, depth + 1);
		close(fd);
	}
	closedir(d);
	return populated;
}

bool
cgroup_populated(const struct strlist *dirs)
{
	autoclose int root = open("/sys/fs/cgroup", O_PATH | O_DIRECTORY | O_CLOEXEC);
	bool populated = false;
	size_t i;
	int fd;

	for (i = 0; root != -1 && !populated && i < dirs->n; i++) {
		if ((fd = file_open_beneath(root, dirs->v[i], O_RDONLY | O_DIRECTORY)) == -1)
			continue;
		populated = is_cgroup(fd) && dir_populated(fd, 0);
		close(fd);
	}
	return populated;
}
