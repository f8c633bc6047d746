/* See cgroup.h. Opens files only beneath /sys/fs/cgroup and /proc, follows no link, and must never write. */
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

#include "../../base/cleanup.h"
#include "../../base/path.h"
#include "../../kernel/cgroupline.h"
#include "../file.h"
#include "../process/namespaces.h"
#include "../process/procdir.h"
#include "../process/process.h"

#define CANDIDATE_DIRS_MAX 128
#define DEPTH_MAX 16
#define ANCESTORS_MAX 64

int
cgroup_root(void)
{
	return open("/sys/fs/cgroup", O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* The values from which cgroup_candidates() makes the candidates. */
struct candidates {
	const char *path, *id;		/* the caller's linux.cgroupsPath and container id */
	bool elsewhere;			/* the caller is in another cgroup namespace, whose root its paths start from */
	struct strlist *out;
	struct why *why;
};

/*
 * Adds HIERARCHY/BASE/PATH. A candidate that can't be added is an error, because the container may be in that
 * very directory.
 */
static int
add_candidate(const struct candidates *s, const char *hierarchy, const char *base, const char *path)
{
	autobuf struct buf b = { 0 };

	buf_printf(&b, "%s%s%s%s%s", *hierarchy ? "/" : "", hierarchy, strcmp(base, "/") == 0 ? "" : base,
	    *path == '/' ? "" : "/", path);
	if (b.failed)
		return refuse_nomem(s->why);
	if (path_check(b.p, s->why) == -1)
		return refuse_within(s->why, "cgroup");
	/* beside v1 hierarchies, v2 is mounted at «unified» */
	if (*hierarchy == '\0' && path_at_or_beneath(b.p, "/unified"))
		return refuse(s->why, WHY_DATA, "the container's cgroup %s begins with «unified»: give it another name", b.p);
	if (strlist_has(s->out, b.p + 1))
		return 0;
	if (s->out->n >= CANDIDATE_DIRS_MAX)
		return refuse(s->why, WHY_DATA, "the container's cgroup could be in more than %d places", CANDIDATE_DIRS_MAX);
	return strlist_add(s->out, b.p + 1, SIZE_MAX) ? 0 : refuse_nomem(s->why);
}

/*
 * The cgroup of the user's own systemd («user@1000.service») in which the cgroup «own» lies; NULL if there is none. The
 * user's systemd makes its scopes beneath that cgroup.
 */
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

/*
 * Adds the scope of systemd's form SLICE:PREFIX:NAME. a-b.slice lies in a.slice/a-b.slice (systemd.slice(5)).
 */
static int
add_scope(const struct candidates *s, const char *hierarchy, const char *own)
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
	/* systemd makes no scope of a name that is no unit name */
	if (!is_slice(slice) || strchr(prefix, '/') != NULL || strchr(name, '/') != NULL)
		return 0;
	/* the root slice has no directory of its own */
	if (strcmp(slice, "-.slice") != 0) {
		for (dash = slice; (dash = strchr(dash, '-')) != NULL; dash++)
			buf_printf(&b, "/%.*s.slice", (int)(dash - slice), slice);
		buf_printf(&b, "/%s", *slice ? slice : manager != NULL ? "user.slice" : "system.slice");
	}
	buf_printf(&b, "/%s%s%s.scope", prefix, *prefix ? "-" : "", name);
	if (b.failed)
		return refuse_nomem(s->why);
	return manager != NULL && add_candidate(s, hierarchy, manager, b.p) == -1 ? -1 : add_candidate(s, hierarchy, "/", b.p);
}

/* Adds the candidates of one hierarchy, in which the runtime itself is in the cgroup «own». */
static int
add_candidates(const struct candidates *s, const char *hierarchy, const char *own)
{
	const char *path = *s->path != '\0' ? s->path : s->id;
	autofree char *base = strdup(own);
	unsigned up;
	char *last;

	if (base == NULL)
		return refuse_nomem(s->why);
	/* a runtime that does not use systemd reads the same text as a plain path */
	if (strchr(path, ':') != NULL && add_scope(s, hierarchy, own) == -1)
		return -1;
	if (add_candidate(s, hierarchy, "/", path) == -1)
		return -1;
	/* a cgroup outside our cgroup namespace's root («/..») has no path here */
	if ((*path == '/' && !s->elsewhere) || text_starts(own, "/.."))
		return 0;
	/*
	 * relative to the runtime's own cgroup or the one above; in another namespace, any cgroup above may
	 * be its root
	 */
	for (up = 0; up < 2 || s->elsewhere; up++) {
		if (add_candidate(s, hierarchy, base, path) == -1)
			return -1;
		if ((last = strrchr(base, '/')) == NULL || base[1] == '\0')
			break;
		last[last == base] = '\0';
	}
	return 0;
}

/* Adds the candidates of one line of /proc/PID/cgroup. */
static int
add_line_candidates(const struct candidates *s, const struct cgroup_line *line)
{
	if (add_candidates(s, line->name, line->path) == -1)
		return -1;
	/* beside v1 hierarchies, v2 is mounted at «unified» */
	return *line->name == '\0' ? add_candidates(s, "unified", line->path) : 0;
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

char *
cgroup_lines(int pid)
{
	char name[40];

	snprintf(name, sizeof(name), "%d/cgroup", pid);
	return procdir_read(name, 65536);
}

int
cgroup_candidates(int pid, const char *cgroups_path, const char *id, struct strlist *out, struct why *why)
{
	struct candidates s = { .path = cgroups_path, .id = id, .out = out, .why = why };
	autofree char *text = cgroup_lines(pid);
	struct cgroup_line line;
	uint64_t its, ours;
	char *rest = text;

	if (text == NULL)
		return refuse(why, WHY_IO, "/proc/%d/cgroup: %s", pid, strerror(errno));
	s.elsewhere = pid != getpid() && ns_of(pid, "cgroup", &its) && ns_of(getpid(), "cgroup", &ours) && its != ours;
	while (cgroup_line_next(&rest, &line))
		if (add_line_candidates(&s, &line) == -1)
			return -1;
	return 0;
}

/* True if the error says that the cgroup does not exist. Any other error may hide a process. */
static bool
hides_nobody(int error)
{
	return error == ENOENT || error == ENOTDIR || error == ENODEV || error == ELOOP;
}

/* Where a hierarchy is not mounted, its directory may hold ordinary files of the same names. */
static bool
is_cgroup(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) == 0 && (fs.f_type == CGROUP_SUPER_MAGIC || fs.f_type == CGROUP2_SUPER_MAGIC);
}

bool
cgroup_is_v2(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) == 0 && fs.f_type == CGROUP2_SUPER_MAGIC;
}

/* Looks at one directory; true ends the walk. */
typedef bool visit(int dir, unsigned depth, unsigned *left, void *ctx);

/* Visits the directories beneath. A tree too deep or too wide to walk while others wait counts as a hit. */
static bool
each_subdir(int dir, unsigned depth, unsigned *left, visit *seen, void *ctx)
{
	bool found = false;
	struct dirent *e;
	int fd;
	DIR *d;

	if (depth >= DEPTH_MAX || (d = file_list(dup(dir))) == NULL)
		return true;
	while (!found && (errno = 0, e = readdir(d)) != NULL) {
		if (e->d_type != DT_DIR || strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		if ((fd = file_open_beneath(dir, e->d_name, O_RDONLY | O_DIRECTORY)) == -1) {
			found = !hides_nobody(errno);
			continue;
		}
		found = seen(fd, depth + 1, left, ctx);
		close(fd);
	}
	found = found || !(errno == 0 || hides_nobody(errno));
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
	/*
	 * v2 counts the processes beneath as well; cgroup_device_list() says why v1 is not asked for this
	 * file
	 */
	if (cgroup_is_v2(dir)) {
		if ((events = file_read_at(dir, "cgroup.events", 4096, NULL)) != NULL)
			return strstr(events, "populated 0") == NULL;
		if (!hides_nobody(errno))
			return true;
	}
	if ((procs = file_read_at(dir, "cgroup.procs", 1 << 20, NULL)) != NULL)
		return *procs != '\0' || each_subdir(dir, depth, left, dir_populated, unused);
	return !hides_nobody(errno);
}

/*
 * True if the directory may exist. Looks up no directory that can't exist, for the reason in cgroup_device_list(). On a
 * v2 host v2 is the only hierarchy; on others v2 is at «unified», and the kernel names v1's hierarchies in
 * /proc/PID/cgroup.
 */
static bool
may_be_there(const char *dir, bool v2, const char *lines)
{
	const size_t n = strcspn(dir, "/");
	autofree char *copy = v2 || lines == NULL ? NULL : strdup(lines);
	struct cgroup_line line;
	char *rest = copy;

	if (strncmp(dir, "unified", n) == 0 && n == strlen("unified"))
		return !v2;
	while (cgroup_line_next(&rest, &line))
		if (strlen(line.name) == n && n > 0 && strncmp(dir, line.name, n) == 0)
			return true;
	return copy == NULL;
}

/* Visits each of these directories that is a cgroup. An error that may hide a process counts as a hit. */
static bool
each_dir(const struct strlist *dirs, unsigned *left, visit *seen, void *ctx)
{
	autoclose int root = cgroup_root();
	const bool v2 = root != -1 && cgroup_is_v2(root);
	autofree char *lines = v2 ? NULL : cgroup_lines(getpid());
	bool found = false;
	size_t i;
	int fd;

	if (root == -1)
		return !hides_nobody(errno);
	for (i = 0; !found && i < dirs->n; i++) {
		if (!may_be_there(dirs->v[i], v2, lines))
			continue;
		if ((fd = file_open_beneath(root, dirs->v[i], O_RDONLY | O_DIRECTORY)) == -1) {
			found = !hides_nobody(errno);
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
	/* EOPNOTSUPP: the cgroup has threads only, and a directory above lists their processes */
	if ((procs = file_read_at(dir, "cgroup.procs", 1 << 20, NULL)) == NULL && errno != EOPNOTSUPP)
		return !hides_nobody(errno);
	return (procs != NULL && !cgroup_parse_pids(procs, out)) || each_subdir(dir, depth, left, collect_pids, out);
}

bool
cgroup_pids(const struct strlist *dirs, unsigned *left, struct pids *out)
{
	*out = (struct pids){ 0 };
	return !each_dir(dirs, left, collect_pids, out);
}

/*
 * True if «pid» is «from» or a descendant of it. A process that is gone counts as a descendant, because it no longer
 * matters.
 */
static bool
is_or_descends(pid_t pid, pid_t from)
{
	unsigned steps;

	for (steps = 0; pid != from && pid > 1 && steps < ANCESTORS_MAX; steps++)
		if ((pid = process_parent(pid)) == -1)
			return process_is_gone(errno);
	return pid == from;
}

/* True if the directory lists this process, and otherwise only its descendants. */
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
		others = !is_or_descends(in.v[i], pid);
	}
	free(in.v);
	return is_in && !others;
}

/*
 * Adds the process's own cgroup in the hierarchy of this line. v2 is mounted at the top, or at «unified»
 * beside v1.
 */
static bool
add_own(int root, pid_t pid, const struct cgroup_line *line, struct strlist *out)
{
	const char *const tops[] = { line->name, "unified" };
	size_t i;

	for (i = 0; i < (*line->name == '\0' ? 2U : 1U); i++) {
		autobuf struct buf b = { 0 };

		buf_printf(&b, "%s%s", tops[i], *tops[i] != '\0' ? line->path : line->path + 1);
		if (b.failed)
			return false;
		if (*b.p != '\0' && has_for_itself(root, b.p, pid))
			return strlist_add(out, b.p, SIZE_MAX);
	}
	return true;
}

/*
 * True for the hierarchy with the device rules. Runtimes tell v1 from v2 in the same way, by the file system
 * at the top.
 */
static bool
has_rules(int root, const struct cgroup_line *line)
{
	return cgroup_is_v2(root) ? *line->controllers == '\0' : cgroup_line_has(line->controllers, "devices");
}

bool
cgroup_own(int pid, struct strlist *out, size_t *devcgroup)
{
	autoclose int root = cgroup_root();
	autofree char *text = cgroup_lines(pid);
	struct cgroup_line line;
	char *rest = text;
	size_t had;

	*devcgroup = SIZE_MAX;
	if (root == -1 || text == NULL)
		return false;
	while (cgroup_line_next(&rest, &line)) {
		had = out->n;
		/*
		 * a cgroup outside our namespace's root has no path here; the root cgroup belongs to
		 * everybody
		 */
		if (!text_starts(line.path, "/..") && strcmp(line.path, "/") != 0 && !add_own(root, pid, &line, out))
			return false;
		if (out->n > had && has_rules(root, &line))
			*devcgroup = had;
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
	autoclose int root = cgroup_root();
	autofree char *text = cgroup_lines(pid);
	struct cgroup_line line;
	char *rest = text;

	if (root == -1 || text == NULL)
		return false;
	while (cgroup_line_next(&rest, &line)) {
		autobuf struct buf dir = { 0 };

		if (!has_rules(root, &line))
			continue;
		/* v1: «devices/...»; v2 has no name of its own */
		buf_printf(&dir, "%s%s", line.controllers, *line.controllers != '\0' ? line.path : line.path + 1);
		return !text_starts(line.path, "/..") && !dir.failed && cgroup_lists(root, *dir.p != '\0' ? dir.p : ".", pid);
	}
	return false;
}

char *
cgroup_device_list(const char *dir)
{
	autoclose int root = cgroup_root();
	autoclose int fd = root != -1 ? file_open_beneath(root, dir, O_RDONLY | O_DIRECTORY) : -1;

	/*
	 * v2 has no such file. Looking up a missing name waits for whoever lists the directory at that
	 * moment, so don't.
	 */
	if (fd != -1 && cgroup_is_v2(fd)) {
		errno = ENOENT;
		return NULL;
	}
	return fd != -1 ? file_read_at(fd, "devices.list", 1 << 20, NULL) : NULL;
}
