/*
 * See cgroupabove.h. Opens files only beneath /sys/fs/cgroup and /proc, follows no link, and must never
 * write.
 */
#include "cgroupabove.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../pure/cleanup.h"
#include "cgroup.h"
#include "file.h"
#include "spaces.h"

/* The top of a v1 hierarchy; only that directory has the file. */
static bool
is_top(int dir)
{
	return faccessat(dir, "release_agent", F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/*
 * True if the directory itself has such a process. A directory that does not exist or has only threads
 * (EOPNOTSUPP) has none.
 */
static bool
has_others(int root, const char *name, uint64_t ours)
{
	autoclose int dir = file_open_beneath(root, name, O_RDONLY | O_DIRECTORY);
	autofree char *procs = dir != -1 ? file_read_at(dir, "cgroup.procs", 1 << 20, NULL) : NULL;
	const pid_t self = getpid();
	struct pids in = { 0 };
	bool found, own = false;
	uint64_t its;
	size_t i;

	if (procs == NULL || is_top(dir))
		return false;
	found = !cgroup_parse_pids(procs, &in);
	for (i = 0; i < in.n; i++)
		own = own || in.v[i] == self;
	/* a worker's own cgroup may hold hundreds of processes: don't look at them in vain */
	for (i = 0; i < in.n && !own && !found; i++)
		/* 0 stands for a process outside our PID namespace */
		found = in.v[i] > 0 && space_of(in.v[i], "pid", &its) && its != ours;
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
	autoclose int root = cgroup_root();
	autostrlist struct strlist above = { 0 };
	uint64_t ours;
	size_t i;

	if (root == -1)
		return false;
	if (!space_of(getpid(), "pid", &ours))
		return true;
	for (i = 0; i < dirs->n; i++)
		if (!add_directories_above(dirs->v[i], &above))
			return true;
	for (i = 0; i < above.n; i++)
		if (has_others(root, above.v[i], ours))
			return true;
	return false;
}
