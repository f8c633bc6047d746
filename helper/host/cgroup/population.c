/* See population.h. Opens files only beneath /sys/fs/cgroup and /proc, follows no link, and must never write. */
#include "population.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../base/cleanup.h"
#include "../../kernel/cgroupline.h"
#include "../file.h"

#define DEPTH_MAX 16

/* True if the error says that the cgroup does not exist. Any other error may hide a process. */
static bool
hides_nobody(int error)
{
	return error == ENOENT || error == ENOTDIR || error == ENODEV || error == ELOOP;
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
		found = cgroup_is_one(fd) && seen(fd, 0, left, ctx);
		close(fd);
	}
	return found;
}

bool
cgroup_populated(const struct strlist *dirs, unsigned *left)
{
	return each_dir(dirs, left, dir_populated, NULL);
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

