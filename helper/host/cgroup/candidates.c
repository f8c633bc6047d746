/* See candidates.h. Opens files only beneath /sys/fs/cgroup and /proc, follows no link, and must never write. */
#include "candidates.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../base/cleanup.h"
#include "../../base/path.h"
#include "../file.h"
#include "../process/namespaces.h"
#include "cgroup.h"

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
	if (s->out->n >= CGROUP_CANDIDATES_MAX)
		return refuse(s->why, WHY_DATA, "the container's cgroup could be in more than %d places", CGROUP_CANDIDATES_MAX);
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

		if (!cgroup_has_rules(root, &line))
			continue;
		/* v1: «devices/...»; v2 has no name of its own */
		buf_printf(&dir, "%s%s", line.controllers, *line.controllers != '\0' ? line.path : line.path + 1);
		return !text_starts(line.path, "/..") && !dir.failed && cgroup_lists(root, *dir.p != '\0' ? dir.p : ".", pid);
	}
	return false;
}

