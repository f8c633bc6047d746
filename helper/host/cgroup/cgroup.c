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

#define ANCESTORS_MAX 64

int
cgroup_root(void)
{
	return open("/sys/fs/cgroup", O_PATH | O_DIRECTORY | O_CLOEXEC);
}

char *
cgroup_lines(int pid)
{
	char name[40];

	snprintf(name, sizeof(name), "%d/cgroup", pid);
	return procdir_read(name, 65536);
}

bool
cgroup_is_one(int fd)
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

	if (fd == -1 || !cgroup_is_one(fd) || (procs = file_read_at(fd, "cgroup.procs", 1 << 20, NULL)) == NULL)
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

bool
cgroup_has_rules(int root, const struct cgroup_line *line)
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
		if (out->n > had && cgroup_has_rules(root, &line))
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

	if (fd == -1 || !cgroup_is_one(fd) || (procs = file_read_at(fd, "cgroup.procs", 16 << 20, NULL)) == NULL)
		return false;
	if (cgroup_parse_pids(procs, &in))
		for (i = 0; !found && i < in.n; i++)
			found = in.v[i] == pid;
	free(in.v);
	return found;
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
