/*
 * See cgroupabove.h. Opens files only beneath /sys/fs/cgroup and /proc, follows no link, and must never
 * write.
 */
#include "cgroupabove.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../base/cleanup.h"
#include "../../host/cgroup/cgroup.h"
#include "../../host/file.h"
#include "../../host/process/namespaces.h"
#include "../../kernel/cgroupline.h"

/* True for the top of a v1 hierarchy, which is mounted beneath «root» itself: only that directory has the file. */
static bool
is_v1_top(int root, const char *name)
{
	char file[128];

	return snprintf(file, sizeof(file), "%s/release_agent", name) < (int)sizeof(file) &&
	    faccessat(root, file, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/*
 * True for the top of a hierarchy, by the lines of our own /proc/PID/cgroup. In a cgroup namespace, the top is mostly
 * our own cgroup, which has no such file.
 */
static bool
is_top(int root, const char *name, const char *lines)
{
	autofree char *copy = strdup(lines);
	struct cgroup_line line;
	char *rest = copy;

	if (strchr(name, '/') != NULL)
		return false;
	while (cgroup_line_next(&rest, &line))
		if (strcmp(line.path, "/") == 0 && strcmp(name, *line.name != '\0' ? line.name : "unified") == 0)
			return true;
	return is_v1_top(root, name);
}

/* The list of its processes, which the caller frees; NULL if it does not exist or has only threads (EOPNOTSUPP). */
static char *
read_procs(int root, const char *name)
{
	autofree char *file = NULL;

	if (asprintf(&file, "%s/cgroup.procs", name) == -1)
		return NULL;
	return file_read_at(root, file, 1 << 20, NULL);
}

/* True if the directory itself has a process of another PID namespace, and does not have ours. */
static bool
has_others(int root, const char *name, uint64_t ours)
{
	autofree char *procs = read_procs(root, name);
	const pid_t self = getpid();
	struct pids in = { 0 };
	bool found, own = false;
	uint64_t its;
	size_t i;

	if (procs == NULL)
		return false;
	found = !cgroup_parse_pids(procs, &in);
	for (i = 0; i < in.n; i++)
		own = own || in.v[i] == self;
	/* our own cgroup does not count, and may hold hundreds of processes: look at none of them */
	for (i = 0; i < in.n && !own && !found; i++)
		/* 0 is a process outside our PID namespace */
		found = in.v[i] > 0 && ns_of(in.v[i], "pid", &its) && its != ours;
	free(in.v);
	return found && !own;
}

/* Adds the paths of all directories above this one, each once. */
static bool
add_directories_above(const char *dir, struct strlist *out)
{
	const char *slash;

	for (slash = strchr(dir, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
		autofree char *above = strndup(dir, (size_t)(slash - dir));

		if (above == NULL || (!strlist_has(out, above) && !strlist_add(out, above, SIZE_MAX)))
			return false;
	}
	return true;
}

bool
cgroup_is_in_others(const struct strlist *dirs)
{
	autofree char *lines = cgroup_lines(getpid());
	autoclose int root = cgroup_root();
	autostrlist struct strlist above = { 0 };
	uint64_t ours;
	size_t i;
	bool v2;

	if (root == -1)
		return false;
	if (lines == NULL || !ns_of(getpid(), "pid", &ours))
		return true;
	for (i = 0; i < dirs->n; i++)
		if (!add_directories_above(dirs->v[i], &above))
			return true;
	/* on a v2 host the names are those of cgroups, and the top is not among them */
	v2 = cgroup_is_v2(root);
	for (i = 0; i < above.n; i++)
		if ((v2 || !is_top(root, above.v[i], lines)) && has_others(root, above.v[i], ours))
			return true;
	return false;
}
