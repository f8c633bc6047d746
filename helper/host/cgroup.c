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

#include "../pure/cgroupline.h"
#include "../pure/cleanup.h"
#include "../pure/path.h"
#include "file.h"

#define CANDIDATES_MAX 128
#define DEPTH_MAX 16

/* What the candidates are made from. */
struct search {
	const char *path, *id;		/* the caller's */
	struct strlist *out;
	struct why *why;
};

/* Adds HIERARCHY/BASE/PATH.  One that was passed over could be the one: it is an error. */
static int
add(const struct search *s, const char *hierarchy, const char *base, const char *path)
{
	autobuf struct buf b = { 0 };

	buf_printf(&b, "%s%s%s%s%s", *hierarchy ? "/" : "", hierarchy, strcmp(base, "/") == 0 ? "" : base,
	    *path == '/' ? "" : "/", path);
	if (b.failed)
		return refuse_nomem(s->why);
	if (path_check(b.p, s->why) == -1)
		return refuse_within(s->why, "cgroup");
	if (strlist_has(s->out, b.p + 1))
		return 0;
	if (s->out->n >= CANDIDATES_MAX)
		return refuse(s->why, WHY_DATA, "the container's cgroup could be in more than %d places", CANDIDATES_MAX);
	return strlist_add(s->out, b.p + 1, SIZE_MAX) ? 0 : refuse_nomem(s->why);
}

/* The cgroup of a user's own systemd in which process's cgroup «own» lies; its scopes are made beneath. */
static char *
users_systemd(const char *own)
{
	const char *at = strstr(own, "/user@");

	if (at == NULL || text_starts(at + 1, "user@/"))
		return NULL;
	return strndup(own, (size_t)(at - own) + 1 + strcspn(at + 1, "/"));
}

static bool
is_slice(const char *name)
{
	size_t n = strlen(name);

	return n == 0 || (n > 6 && strcmp(name + n - 6, ".slice") == 0 && strchr(name, '/') == NULL);
}

/* systemd's «slice:prefix:name»; a-b.slice lies in a.slice/a-b.slice (systemd.slice(5)). */
static int
add_scope(const struct search *s, const char *hierarchy, const char *own)
{
	autofree char *slice = strdup(s->path), *manager = users_systemd(own);
	autobuf struct buf b = { 0 };
	char *prefix, *name, *dash;

	if (slice == NULL)
		return refuse_nomem(s->why);
	if ((prefix = strchr(slice, ':')) == NULL || (name = strchr(prefix + 1, ':')) == NULL)
		return 0;
	*prefix++ = '\0';
	*name++ = '\0';
	/* what is no name of a unit makes no scope */
	if (!is_slice(slice) || strchr(prefix, '/') != NULL || strchr(name, '/') != NULL)
		return 0;
	/* the root slice is no directory */
	if (strcmp(slice, "-.slice") != 0) {
		for (dash = slice; (dash = strchr(dash, '-')) != NULL; dash++)
			buf_printf(&b, "/%.*s.slice", (int)(dash - slice), slice);
		buf_printf(&b, "/%s", *slice ? slice : manager != NULL ? "user.slice" : "system.slice");
	}
	buf_printf(&b, "/%s%s%s.scope", prefix, *prefix ? "-" : "", name);
	if (b.failed)
		return refuse_nomem(s->why);
	return manager != NULL && add(s, hierarchy, manager, b.p) == -1 ? -1 : add(s, hierarchy, "/", b.p);
}

/* In one hierarchy, by the cgroup that the runtime itself is in. */
static int
add_places(const struct search *s, const char *hierarchy, const char *own)
{
	const char *path = *s->path != '\0' ? s->path : s->id;
	autofree char *parent = strdup(own);
	char *last;

	if (parent == NULL)
		return refuse_nomem(s->why);
	/* a runtime without systemd takes the same text for a path */
	if (strchr(path, ':') != NULL && add_scope(s, hierarchy, own) == -1)
		return -1;
	if (add(s, hierarchy, "/", path) == -1)
		return -1;
	/* a cgroup beyond the root of our cgroup namespace has no name here */
	if (*path == '/' || text_starts(own, "/.."))
		return 0;
	if ((last = strrchr(parent, '/')) != NULL)
		last[last == parent] = '\0';
	return add(s, hierarchy, own, path) == -1 || add(s, hierarchy, parent, path) == -1 ? -1 : 0;
}

/* One line of /proc/PID/cgroup. */
static int
add_line(const struct search *s, const char *controllers, const char *own)
{
	if (text_starts(controllers, "name="))
		controllers += 5;
	if (add_places(s, controllers, own) == -1)
		return -1;
	/* beside v1 hierarchies, v2's lies there */
	return *controllers == '\0' ? add_places(s, "unified", own) : 0;
}

int
cgroup_candidates(int pid, const char *cgroups_path, const char *id, struct strlist *out, struct why *why)
{
	const struct search s = { cgroups_path, id, out, why };
	autofree char *text = NULL;
	struct cgroup_line line;
	char name[40], *rest;
	autoclose int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);

	snprintf(name, sizeof(name), "proc/%d/cgroup", pid);
	if (root == -1 || (text = file_read_at(root, name, 65536, NULL)) == NULL)
		return refuse(why, WHY_IO, "/%s: %s", name, strerror(errno));
	rest = text;
	while (cgroup_line_next(&rest, &line))
		if (add_line(&s, line.controllers, line.path) == -1)
			return -1;
	return 0;
}

/* There is no such cgroup (any more); whatever else goes wrong may hide someone. */
static bool
is_gone(int error)
{
	return error == ENOENT || error == ENOTDIR || error == ENODEV || error == ELOOP;
}

/* Where a hierarchy is not mounted, its directory may hold plain files that look alike. */
static bool
is_cgroup(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) == 0 && (fs.f_type == CGROUP_SUPER_MAGIC || fs.f_type == CGROUP2_SUPER_MAGIC);
}

/* Looks at one directory; true ends the walk. */
typedef bool visit(int dir, unsigned depth, unsigned *left, void *ctx);

/* Those beneath.  A tree that is too deep or too wide to walk while others wait ends the walk, too. */
static bool
each_subdir(int dir, unsigned depth, unsigned *left, visit *look, void *ctx)
{
	bool found = false;
	struct dirent *e;
	int fd;
	DIR *d;

	if (depth >= DEPTH_MAX || (fd = dup(dir)) == -1)
		return true;
	if ((d = fdopendir(fd)) == NULL) {
		close(fd);
		return true;
	}
	while (!found && (errno = 0, e = readdir(d)) != NULL) {
		if (e->d_type != DT_DIR || e->d_name[0] == '.')
			continue;
		if ((fd = file_open_beneath(dir, e->d_name, O_RDONLY | O_DIRECTORY)) == -1) {
			found = !is_gone(errno);
			continue;
		}
		found = look(fd, depth + 1, left, ctx);
		close(fd);
	}
	found = found || !(errno == 0 || is_gone(errno));
	closedir(d);
	return found;
}

static bool
dir_populated(int dir, unsigned depth, unsigned *left, void *unused)
{
	autofree char *procs = NULL, *events = NULL;

	if (*left == 0)
		return true;
	--*left;
	/* v2 counts those beneath; v1 has no such file */
	if ((events = file_read_at(dir, "cgroup.events", 4096, NULL)) != NULL)
		return strstr(events, "populated 0") == NULL;
	if (!is_gone(errno))
		return true;
	if ((procs = file_read_at(dir, "cgroup.procs", 1 << 20, NULL)) != NULL)
		return *procs != '\0' || each_subdir(dir, depth, left, dir_populated, unused);
	return !is_gone(errno);
}

/* Each of these directories that is there and is a cgroup; where one can't be looked at that ends it, too. */
static bool
each_dir(const struct strlist *dirs, unsigned *left, visit *look, void *ctx)
{
	autoclose int root = open("/sys/fs/cgroup", O_PATH | O_DIRECTORY | O_CLOEXEC);
	bool found = false;
	size_t i;
	int fd;

	if (root == -1)
		return !is_gone(errno);
	for (i = 0; !found && i < dirs->n; i++) {
		if ((fd = file_open_beneath(root, dirs->v[i], O_RDONLY | O_DIRECTORY)) == -1) {
			found = !is_gone(errno);
			continue;
		}
		found = is_cgroup(fd) && look(fd, 0, left, ctx);
		close(fd);
	}
	return found;
}

bool
cgroup_populated(const struct strlist *dirs, unsigned *left)
{
	return each_dir(dirs, left, dir_populated, NULL);
}

/* A line of cgroup.procs each. */
static bool
add_pids(const char *procs, struct pids *out)
{
	pid_t *v;
	char *end;
	long n;

	for (; *procs != '\0'; procs = end + (*end == '\n')) {
		n = strtol(procs, &end, 10);
		if (end == procs || (v = reallocarray(out->v, out->n + 1, sizeof(*v))) == NULL)
			return false;
		out->v = v;
		v[out->n++] = (pid_t)n;
	}
	return true;
}

static bool
collect_pids(int dir, unsigned depth, unsigned *left, void *out)
{
	autofree char *procs = NULL;

	if (*left == 0)
		return true;
	--*left;
	/* of threads alone (EOPNOTSUPP): their processes are listed above */
	if ((procs = file_read_at(dir, "cgroup.procs", 1 << 20, NULL)) == NULL && errno != EOPNOTSUPP)
		return !is_gone(errno);
	return (procs != NULL && !add_pids(procs, out)) || each_subdir(dir, depth, left, collect_pids, out);
}

bool
cgroup_pids(const struct strlist *dirs, unsigned *left, struct pids *out)
{
	*out = (struct pids){ 0 };
	return !each_dir(dirs, left, collect_pids, out);
}

/* Is this process in the directory, and nobody else? */
static bool
is_alone_in(int root, const char *dir, pid_t pid)
{
	autoclose int fd = file_open_beneath(root, dir, O_RDONLY | O_DIRECTORY);
	autofree char *procs = NULL;
	char line[16];

	snprintf(line, sizeof(line), "%d\n", pid);
	return fd != -1 && is_cgroup(fd) && (procs = file_read_at(fd, "cgroup.procs", 1 << 20, NULL)) != NULL &&
	    strcmp(procs, line) == 0;
}

/* Where the hierarchy of such a line is mounted by custom: v2 at the top, or beside v1. */
static bool
add_own(int root, pid_t pid, const struct cgroup_line *line, struct strlist *out)
{
	const char *name = text_starts(line->controllers, "name=") ? line->controllers + 5 : line->controllers;
	const char *const tops[] = { name, "unified" };
	size_t i;

	for (i = 0; i < (*name == '\0' ? 2U : 1U); i++) {
		autobuf struct buf b = { 0 };

		buf_printf(&b, "%s%s", tops[i], *tops[i] != '\0' ? line->path : line->path + 1);
		if (b.failed)
			return false;
		if (*b.p != '\0' && is_alone_in(root, b.p, pid))
			return strlist_add(out, b.p, SIZE_MAX);
	}
	return true;
}

bool
cgroup_own(int pid, struct strlist *out, size_t *gate)
{
	autoclose int slash = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	autoclose int root = open("/sys/fs/cgroup", O_PATH | O_DIRECTORY | O_CLOEXEC);
	autofree char *text = NULL;
	struct cgroup_line line;
	char name[40], *rest;
	struct statfs fs;
	bool unified;
	size_t had;

	*gate = SIZE_MAX;
	snprintf(name, sizeof(name), "proc/%d/cgroup", pid);
	if (slash == -1 || root == -1 || (text = file_read_at(slash, name, 65536, NULL)) == NULL)
		return false;
	/* as runtimes tell which of the two they have before them */
	unified = fstatfs(root, &fs) == 0 && fs.f_type == CGROUP2_SUPER_MAGIC;
	rest = text;
	while (cgroup_line_next(&rest, &line)) {
		had = out->n;
		/* a cgroup beyond the root of our cgroup namespace has no name here, and the root is everybody's */
		if (!text_starts(line.path, "/..") && strcmp(line.path, "/") != 0 && !add_own(root, pid, &line, out))
			return false;
		if (out->n > had && (unified ? *line.controllers == '\0' : cgroup_line_has(line.controllers, "devices")))
			*gate = had;
	}
	return true;
}

char *
cgroup_device_list(const char *dir)
{
	autoclose int root = open("/sys/fs/cgroup", O_PATH | O_DIRECTORY | O_CLOEXEC);
	autoclose int fd = root != -1 ? file_open_beneath(root, dir, O_RDONLY | O_DIRECTORY) : -1;

	return fd != -1 ? file_read_at(fd, "devices.list", 1 << 20, NULL) : NULL;
}
