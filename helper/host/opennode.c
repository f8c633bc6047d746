/*
 * See opennode.h.  Looks at /proc alone, while others wait for the lock: must
 * never ask a file system, which may be one that its owner lets stall (FUSE).
 */
#include "opennode.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clock.h"
#include "file.h"
#include "process.h"

#define PLAIN_MAX 64

/* Files that were seen to be no node, by what /proc/PID/maps says of them: device and inode. */
struct plain {
	char name[PLAIN_MAX][40];
	size_t n;
};

bool
looks_take(struct looks *l)
{
	const int64_t now = clock_ms();

	if (l->until == 0)
		l->until = now + INUSE_MS;
	if (l->left == 0 || now > l->until)
		return false;
	l->left--;
	return true;
}

static bool
is_node(const struct statx *st, const struct edit_node *node, size_t nodes)
{
	size_t i;

	for (i = 0; S_ISCHR(st->stx_mode) && i < nodes; i++)
		if (st->stx_rdev_major == node[i].major && st->stx_rdev_minor == node[i].minor)
			return true;
	return false;
}

static bool
fd_is_node(int fds, const char *name, const struct edit_node *node, size_t nodes)
{
	struct statx st;
	char link[8];

	if (statx(fds, name, AT_STATX_DONT_SYNC, STATX_TYPE, &st) == 0)
		return is_node(&st, node, nodes);
	/* a user's file system may keep even root out, but has no device nodes to use; the link itself is procfs's */
	return !process_is_gone(errno) && !(errno == EACCES && readlinkat(fds, name, link, sizeof(link)) != -1);
}

/* A directory of the process's; NULL with *gone where it is not there (any more). */
static DIR *
open_of(int proc, const char *name, bool *gone)
{
	int fd = file_open_beneath(proc, name, O_RDONLY | O_DIRECTORY);
	DIR *d = fd != -1 ? fdopendir(fd) : NULL;

	*gone = fd == -1 && process_is_gone(errno);
	if (d == NULL && fd != -1)
		close(fd);
	return d;
}

bool
task_has_open(int proc, const char *task, const struct edit_node *node, size_t nodes, struct looks *looks)
{
	bool has = false, gone;
	struct dirent *e;
	char name[64];
	DIR *d;

	snprintf(name, sizeof(name), "%.50s/fd", task);
	if ((d = open_of(proc, name, &gone)) == NULL)
		return !gone;
	while (!has && (errno = 0, e = readdir(d)) != NULL)
		if (e->d_name[0] != '.')
			has = !looks_take(looks) || fd_is_node(dirfd(d), e->d_name, node, nodes);
	has = has || (errno != 0 && !process_is_gone(errno));
	closedir(d);
	return has;
}

/*
 * One line of /proc/PID/maps: «7f00-7f10 rw-s 00000000 00:05 1234  /dev/nvidia0».
 * What it maps is asked for by the link in map_files: a node can have any name.
 */
static bool
line_is_node(int maps, const char *line, struct plain *plain, const struct edit_node *node, size_t nodes)
{
	unsigned long long begin, end, inode;
	char link[40], file[40];
	unsigned major, minor;
	struct statx st;
	size_t i;

	if (sscanf(line, "%llx-%llx %*s %*s %x:%x %llu", &begin, &end, &major, &minor, &inode) != 5)
		return true;
	if (inode == 0)
		return false;
	snprintf(file, sizeof(file), "%x:%x %llu", major, minor, inode);
	for (i = 0; i < plain->n; i++)
		if (strcmp(plain->name[i], file) == 0)
			return false;
	snprintf(link, sizeof(link), "%llx-%llx", begin, end);
	if (statx(maps, link, AT_STATX_DONT_SYNC, STATX_TYPE, &st) == -1)
		return !process_is_gone(errno);
	if (is_node(&st, node, nodes))
		return true;
	if (plain->n < PLAIN_MAX)
		snprintf(plain->name[plain->n++], sizeof(plain->name[0]), "%s", file);
	return false;
}

/* The process's own program is no node, and needs no rights to be seen. */
static void
know_program(int proc, const char *pid, struct plain *plain)
{
	struct statx st;
	char name[40];

	snprintf(name, sizeof(name), "%.15s/exe", pid);
	if (statx(proc, name, AT_STATX_DONT_SYNC, STATX_TYPE | STATX_INO, &st) == 0 && S_ISREG(st.stx_mode))
		snprintf(plain->name[plain->n++], sizeof(plain->name[0]), "%x:%x %llu", st.stx_dev_major, st.stx_dev_minor,
		    (unsigned long long)st.stx_ino);
}

static bool
maps_node(int proc, const char *pid, const struct edit_node *node, size_t nodes, struct looks *looks)
{
	struct plain plain = { .n = 0 };
	bool has = false, gone;
	char name[40], *line = NULL;
	size_t size = 0;
	FILE *file;
	DIR *maps;
	int fd;

	know_program(proc, pid, &plain);
	snprintf(name, sizeof(name), "%.15s/map_files", pid);
	if ((maps = open_of(proc, name, &gone)) == NULL)
		return !gone;
	snprintf(name, sizeof(name), "%.15s/maps", pid);
	fd = file_open_beneath(proc, name, O_RDONLY);
	gone = fd == -1 && process_is_gone(errno);
	if (fd == -1 || (file = fdopen(fd, "r")) == NULL) {
		if (fd != -1)
			close(fd);
		closedir(maps);
		return !gone;
	}
	while (!has && (errno = 0, getline(&line, &size, file)) != -1)
		has = !looks_take(looks) || line_is_node(dirfd(maps), line, &plain, node, nodes);
	has = has || (errno != 0 && !process_is_gone(errno));
	free(line);
	fclose(file);
	closedir(maps);
	return has;
}

static bool
threads_have_open(int proc, const char *pid, const struct edit_node *node, size_t nodes, struct looks *looks)
{
	char name[40], task[64];
	bool has = false, gone;
	struct dirent *e;
	DIR *d;

	snprintf(name, sizeof(name), "%.15s/task", pid);
	if ((d = open_of(proc, name, &gone)) == NULL)
		return !gone;
	while (!has && (errno = 0, e = readdir(d)) != NULL) {
		if (e->d_name[0] == '.')
			continue;
		snprintf(task, sizeof(task), "%.15s/task/%.15s", pid, e->d_name);
		has = task_has_open(proc, task, node, nodes, looks);
	}
	has = has || (errno != 0 && !process_is_gone(errno));
	closedir(d);
	return has;
}

bool
process_holds(pid_t pid, const struct edit_node *node, size_t nodes, struct looks *looks)
{
	autoclose int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char name[16];

	snprintf(name, sizeof(name), "%d", pid);
	return proc == -1 || threads_have_open(proc, name, node, nodes, looks) || maps_node(proc, name, node, nodes, looks);
}
