/* See devcgrouppath.h. Runs with the caller's rights, and only reads. */
#include "devcgrouppath.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../base/cleanup.h"
#include "../../base/text.h"
#include "../../host/cgroup/cgroup.h"
#include "../../host/file.h"
#include "../../kernel/cgroupline.h"
#include "devcgroup.h"

/* Runtimes tell v1 from v2 by the file system at the top, too. */
static bool
host_is_v2(void)
{
	autoclose int root = cgroup_root();

	return root != -1 && cgroup_is_v2(root);
}

/* Finds the line of the hierarchy with the device rules. The line points into *text, which the caller frees. */
static bool
find_line(pid_t pid, bool v2, char **text, struct cgroup_line *line)
{
	char *rest = *text = cgroup_lines(pid);

	while (cgroup_line_next(&rest, line))
		if (v2 ? *line->controllers == '\0' : cgroup_line_has(line->controllers, "devices"))
			return true;
	return false;
}

char *
devcgroup_of(pid_t pid)
{
	const bool v2 = host_is_v2();
	autofree char *text = NULL;
	struct buf dir = { 0 };
	struct cgroup_line line;

	/* a cgroup outside our cgroup namespace's root has no path here */
	if (!find_line(pid, v2, &text, &line) || text_starts(line.path, "/.."))
		return NULL;
	buf_printf(&dir, "%s%s", line.name, strcmp(line.path, "/") == 0 ? "" : line.path + (v2 ? 1 : 0));
	if (dir.failed) {
		free(dir.p);
		return NULL;
	}
	return dir.p;
}

bool
devcgroup_is_beneath(const char *dir, const char *above)
{
	const size_t n = strlen(above);

	return n == 0 || (strncmp(dir, above, n) == 0 && (dir[n] == '/' || dir[n] == '\0'));
}

bool
devcgroup_is(const char *dir)
{
	const bool v2 = host_is_v2();
	autofree char *text = NULL;
	struct cgroup_line line;
	char *rest;

	if (!v2)
		return find_line(getpid(), v2, &text, &line) && devcgroup_is_beneath(dir, line.name);
	/* v1's hierarchies and «unified» are directories beside v2 only where v2 is not at the top */
	for (rest = text = cgroup_lines(getpid()); cgroup_line_next(&rest, &line);)
		if (*line.name != '\0' && devcgroup_is_beneath(dir, line.name))
			return false;
	return !devcgroup_is_beneath(dir, "unified");
}

int
devcgroup_open(const char *dir)
{
	autoclose int root = cgroup_root();
	autofree char *at = strdup(dir);
	char *slash;
	int fd;

	if (root == -1 || at == NULL)
		return -1;
	while ((fd = file_open_beneath(root, *at != '\0' ? at : ".", O_RDONLY | O_DIRECTORY)) == -1 && errno == ENOENT &&
	    *at != '\0') {
		/* only v2 has a cgroup at the top */
		if ((slash = strrchr(at, '/')) == NULL && !cgroup_is_v2(root))
			return -1;
		*(slash != NULL ? slash : at) = '\0';
	}
	return fd;
}

bool
devcgroup_includes(int b, int a)
{
	uint32_t of_a[DEVCGROUP_PROGRAMS_MAX], of_b[DEVCGROUP_PROGRAMS_MAX], n, m, i, k;

	if (devcgroup_programs(a, true, of_a, &n) == -1 || devcgroup_programs(b, true, of_b, &m) == -1)
		return false;
	for (i = 0; i < n; i++) {
		for (k = 0; k < m && of_b[k] != of_a[i]; k++)
			;
		if (k == m)
			return false;
	}
	return true;
}
