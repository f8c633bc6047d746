/* See cgroup.h.  Opens only beneath /sys/fs/cgroup, follows no link, reads only. */
#include "cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "../pure/cgroupline.h"
#include "../pure/cleanup.h"
#include "../pure/path.h"
#include "file.h"
#include "procdir.h"
#include "process.h"
#include "spaces.h"

#define CANDIDATES_MAX 128
#define DEPTH_MAX 16
#define ANCESTORS_MAX 64

/* What the candidates are made from. */
struct search {
	const char *path, *id;		/* the caller's */
	bool elsewhere;			/* the caller's paths begin in a cgroup namespace of its own */
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
	/* beside v1 that is where v2's hierarchy lies */
	if (*hierarchy == '\0' && path_at_or_beneath(b.p, "/unified"))
		return refuse(s->why, WHY_DATA, "the container's cgroup %s begins with «unified»: give it another name", b.p);
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
	autofree char *base = strdup(own);
	unsigned up;
	char *last;

	if (base == NULL)
		return refuse_nomem(s->why);
	/* a runtime without systemd takes the same text for a path */
	if (strchr(path, ':') != NULL && add_scope(s, hierarchy, own) == -1)
		return -1;
	if (add(s, hierarchy, "/", path) == -1)
		return -1;
	/* a cgroup beyond the root of our cgroup namespace has no name here */
	if ((*path == '/' && !s->elsewhere) || text_starts(own, "/.."))
		return 0;
	/* from its own cgroup, or the one above; the root of its namespace is one of all that are above */
	for (up = 0; up < 2 || s->elsewhere; up++) {
		if (add(s, hierarchy, base, path) == -1)
			return -1;
		if ((last = strrchr(base, '/')) == NULL || base[1] == '\0')
			break;
		last[last == base] = '\0';
	}
	return 0;
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
cgroup_check_scope(const char *path, struct why *why)
{
	const char *prefix = strchr(path, ':'), *name = prefix != NULL ? strchr(prefix + 1, ':') : NULL;
	autofree char *slice = strndup(path, prefix != NULL ? (size_t)(prefix - path) : 0);

	if (slice == NULL)
		return refuse_nomem(why);
	if (name != NULL && name != prefix + 1 && name[1] != '\0' && strchr(name + 1, ':') == NULL &&
	    strchr(path, '/') == NULL && is_slice(slice) && !is_slice(name + 1))
		return 0;
	return refuse(why, WHY_DATA, "linux.cgroupsPath %.200s is not of the form SLICE.slice:PREFIX:NAME: with systemd's "
	    "cgroups, runtimes differ in what they make of it, and what is granted could not be followed", path);
}

/* /proc/PID/cgroup, which the caller frees; NULL with errno. */
static char *
lines_of(int pid)
{
	autoclose int proc = procdir_open(O_PATH);
	char name[40];

	snprintf(name, sizeof(name), "%d/cgroup", pid);
	return proc != -1 ? file_read_at(proc, name, 65536, NULL) : NULL;
}

int
cgroup_candidates(int pid, const char *cgroups_path, const char *id, struct strlist *out, struct why *why)
{
	struct search s = { .path = cgroups_path, .id = id, .out = out, .why = why };
	autofree char *text = lines_of(pid);
	struct cgroup_line line;
	uint64_t its, ours;
	char *rest = text;

	if (text == NULL)
		return refuse(why, WHY_IO, "/proc/%d/cgroup: %s", pid, strerror(errno));
	s.elsewhere = space_of(pid, "cgroup", &its) && space_of(getpid(), "cgroup", &ours) && its != ours;
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

static bool
is_v2(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) == 0 && fs.f_type == CGROUP2_SUPER_MAGIC;
}

/* Looks at one directory; true ends the walk. */
typedef bool visit(int dir, unsigned depth, unsigned *left, void *ctx);

/* Those beneath.  A tree that is too deep or too wide to walk while others wait ends the walk, too. */
static bool
each_subdir(int dir, unsigned depth, unsigned *left, visit *seen, void *ctx)
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
		if (e->d_type != DT_DIR || strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		if ((fd = file_open_beneath(dir, e->d_name, O_RDONLY | O_DIRECTORY)) == -1) {
			found = !is_gone(errno);
			continue;
		}
		found = seen(fd, depth + 1, left, ctx);
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
	/* v2 counts those beneath; in v1 nothing is to be looked for that is not there (cgroup_device_list()) */
	if (is_v2(dir)) {
		if ((events = file_read_at(dir, "cgroup.events", 4096, NULL)) != NULL)
			return strstr(events, "populated 0") == NULL;
		if (!is_gone(errno))
			return true;
	}
	if ((procs = file_read_at(dir, "cgroup.procs", 1 << 20, NULL)) != NULL)
		return *procs != '\0' || each_subdir(dir, depth, left, dir_populated, unused);
	return !is_gone(errno);
}

/*
 * Could the directory be there?  What can't be is not looked for (cgroup_device_list()): v2's hierarchy is all that
 * there is, or lies in «unified» beside those of v1, which have their names from the kernel.
 */
static bool
may_be_there(const char *dir, bool v2, const char *lines)
{
	const size_t n = strcspn(dir, "/");
	autofree char *copy = v2 || lines == NULL ? NULL : strdup(lines);
	struct cgroup_line line;
	char *rest = copy;
	const char *name;

	if (strncmp(dir, "unified", n) == 0 && n == strlen("unified"))
		return !v2;
	while (cgroup_line_next(&rest, &line)) {
		name = line.controllers + (text_starts(line.controllers, "name=") ? 5 : 0);
		if (strlen(name) == n && n > 0 && strncmp(dir, name, n) == 0)
			return true;
	}
	return copy == NULL;
}

/* Each of these directories that is there and is a cgroup; where one can't be looked at that ends it, too. */
static bool
each_dir(const struct strlist *dirs, unsigned *left, visit *seen, void *ctx)
{
	autoclose int root = open("/sys/fs/cgroup", O_PATH | O_DIRECTORY | O_CLOEXEC);
	const bool v2 = root != -1 && is_v2(root);
	autofree char *lines = v2 ? NULL : lines_of(getpid());
	bool found = false;
	size_t i;
	int fd;

	if (root == -1)
		return !is_gone(errno);
	for (i = 0; !found && i < dirs->n; i++) {
		if (!may_be_there(dirs->v[i], v2, lines))
			continue;
		if ((fd = file_open_beneath(root, dirs->v[i], O_RDONLY | O_DIRECTORY)) == -1) {
			found = !is_gone(errno);
			continue;
		}
		found = is_cgroup(fd) && seen(fd, 0, left, ctx);
		close(fd);
	}
	return found;
}

bool
cgroup_populated(const struct strlist *dirs, unsigned *left)
{
	return each_dir(dirs, left, dir_populated, NULL);
}

bool
cgroup_parse_pids(const char *procs, struct pids *out)
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
	return (procs != NULL && !cgroup_parse_pids(procs, out)) || each_subdir(dir, depth, left, collect_pids, out);
}

bool
cgroup_pids(const struct strlist *dirs, unsigned *left, struct pids *out)
{
	*out = (struct pids){ 0 };
	return !each_dir(dirs, left, collect_pids, out);
}

/* Has the process made this one, or is it that itself?  One that is gone is in nobody's way. */
static bool
descends(pid_t pid, pid_t from)
{
	unsigned steps;

	for (steps = 0; pid != from && pid > 1 && steps < ANCESTORS_MAX; steps++)
		if ((pid = process_parent(pid)) == -1)
			return process_is_gone(errno);
	return pid == from;
}

/* Is this process in the directory, and nobody else but who descends from it? */
static bool
has_for_itself(int root, const char *dir, pid_t pid)
{
	autoclose int fd = file_open_beneath(root, dir, O_RDONLY | O_DIRECTORY);
	autofree char *procs = NULL;
	struct pids in = { 0 };
	bool is_in = false, others = false;
	size_t i;

	if (fd == -1 || !is_cgroup(fd) || (procs = file_read_at(fd, "cgroup.procs", 1 << 20, NULL)) == NULL)
		return false;
	others = !cgroup_parse_pids(procs, &in);
	for (i = 0; !others && i < in.n; i++) {
		is_in = is_in || in.v[i] == pid;
		others = !descends(in.v[i], pid);
	}
	free(in.v);
	return is_in && !others;
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
		if (*b.p != '\0' && has_for_itself(root, b.p, pid))
			return strlist_add(out, b.p, SIZE_MAX);
	}
	return true;
}

/* Is it the hierarchy of the device rules?  As runtimes tell which of the two versions they have before them. */
static bool
has_rules(int root, const struct cgroup_line *line)
{
	struct statfs fs;
	const bool unified = fstatfs(root, &fs) == 0 && fs.f_type == CGROUP2_SUPER_MAGIC;

	return unified ? *line->controllers == '\0' : cgroup_line_has(line->controllers, "devices");
}

bool
cgroup_own(int pid, struct strlist *out, size_t *gate)
{
	autoclose int root = open("/sys/fs/cgroup", O_PATH | O_DIRECTORY | O_CLOEXEC);
	autofree char *text = lines_of(pid);
	struct cgroup_line line;
	char *rest = text;
	size_t had;

	*gate = SIZE_MAX;
	if (root == -1 || text == NULL)
		return false;
	while (cgroup_line_next(&rest, &line)) {
		had = out->n;
		/* a cgroup beyond the root of our cgroup namespace has no name here, and the root is everybody's */
		if (!text_starts(line.path, "/..") && strcmp(line.path, "/") != 0 && !add_own(root, pid, &line, out))
			return false;
		if (out->n > had && has_rules(root, &line))
			*gate = had;
	}
	return true;
}

bool
cgroup_lists(int root, const char *dir, pid_t pid)
{
	autoclose int fd = file_open_beneath(root, dir, O_RDONLY | O_DIRECTORY);
	autofree char *procs = NULL;
	struct pids in = { 0 };
	bool found = false;
	size_t i;

	if (fd == -1 || !is_cgroup(fd) || (procs = file_read_at(fd, "cgroup.procs", 16 << 20, NULL)) == NULL)
		return false;
	if (cgroup_parse_pids(procs, &in))
		for (i = 0; !found && i < in.n; i++)
			found = in.v[i] == pid;
	free(in.v);
	return found;
}

bool
cgroup_is_shown(int pid)
{
	autoclose int root = open("/sys/fs/cgroup", O_PATH | O_DIRECTORY | O_CLOEXEC);
	autofree char *text = lines_of(pid);
	struct cgroup_line line;
	char *rest = text;

	if (root == -1 || text == NULL)
		return false;
	while (cgroup_line_next(&rest, &line)) {
		autobuf struct buf dir = { 0 };

		if (!has_rules(root, &line))
			continue;
		/* «devices/», and for v2 no name at all */
		buf_printf(&dir, "%s%s", line.controllers, *line.controllers != '\0' ? line.path : line.path + 1);
		return !text_starts(line.path, "/..") && !dir.failed && cgroup_lists(root, *dir.p != '\0' ? dir.p : ".", pid);
	}
	return false;
}

char *
cgroup_device_list(const char *dir)
{
	autoclose int root = open("/sys/fs/cgroup", O_PATH | O_DIRECTORY | O_CLOEXEC);
	autoclose int fd = root != -1 ? file_open_beneath(root, dir, O_RDONLY | O_DIRECTORY) : -1;

	/* to look for what is not there may be to wait for who lists the directory */
	if (fd != -1 && is_v2(fd)) {
		errno = ENOENT;
		return NULL;
	}
	return fd != -1 ? file_read_at(fd, "devices.list", 1 << 20, NULL) : NULL;
}
