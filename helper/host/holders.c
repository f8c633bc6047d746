/*
 * See holders.h.  Looks at /proc alone, and takes its time: must not be called
 * while others wait for a lock.
 */
#include "holders.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../pure/cleanup.h"
#include "clock.h"
#include "file.h"
#include "opennode.h"
#include "process.h"

#define HOLDERS_MS 4000	/* for what takes a fraction of a second */

/* What tells a container's process from the host's. */
struct home {
	uint64_t pids, users;		/* inodes of the namespaces */
	uint64_t root;			/* and of the root directory */
	uint32_t root_major, root_minor;
};

static bool
inode_of(int proc, const char *pid, const char *name, uint64_t *out)
{
	struct stat st;
	char path[40];

	snprintf(path, sizeof(path), "%.15s/%.20s", pid, name);
	if (fstatat(proc, path, &st, 0) == -1)
		return false;
	*out = st.st_ino;
	return true;
}

static bool
home_of(int proc, const char *pid, struct home *out)
{
	struct statx st;
	char path[40];

	if (!inode_of(proc, pid, "ns/pid", &out->pids) || !inode_of(proc, pid, "ns/user", &out->users))
		return false;
	/* its file system is not asked: it may be one that never answers (FUSE) */
	snprintf(path, sizeof(path), "%.15s/root", pid);
	if (statx(proc, path, AT_STATX_DONT_SYNC, STATX_INO, &st) == -1)
		return false;
	out->root = st.stx_ino;
	out->root_major = st.stx_dev_major;
	out->root_minor = st.stx_dev_minor;
	return true;
}

static bool
same_home(const struct home *a, const struct home *b)
{
	return a->pids == b->pids && a->users == b->users && a->root == b->root && a->root_major == b->root_major &&
	    a->root_minor == b->root_minor;
}

struct search {
	struct home ours;
	bool all_seen;		/* we are in the first user namespace: no process is hidden from us */
	pid_t *holder;
	struct node_search nodes;
};

/* uid_map of the first user namespace: «0 0 4294967295» (user_namespaces(7)). */
static bool
in_first_namespace(int proc)
{
	autofree char *map = file_read_at(proc, "self/uid_map", 4096, NULL);
	unsigned inside, outside, size;

	return map == NULL || (sscanf(map, "%u %u %u", &inside, &outside, &size) == 3 && inside == 0 && outside == 0 &&
	    size == UINT32_MAX);
}

/* False where that can't be seen. */
static bool
look_at(struct search *s, const char *pid)
{
	struct home home;
	char tid[16];
	size_t i;

	/* who ends meanwhile, or is a zombie, has nothing open; who is out of our sight is no container's of this worker */
	if (!process_thread(s->nodes.proc, pid, tid))
		return true;
	if (!home_of(s->nodes.proc, tid, &home))
		return process_is_gone(errno) || (!s->all_seen && (errno == EACCES || errno == EPERM));
	if (same_home(&home, &s->ours))
		return true;
	memset(s->nodes.held, 0, s->nodes.nodes * sizeof(*s->nodes.held));
	if (!process_marks(&s->nodes, pid))
		return false;
	for (i = 0; i < s->nodes.nodes; i++)
		if (s->nodes.held[i])
			s->holder[i] = (pid_t)strtol(pid, NULL, 10);
	return true;
}

static int
look_at_all(struct search *s, DIR *d, struct why *why)
{
	struct dirent *e;

	while ((errno = 0, e = readdir(d)) != NULL) {
		if (e->d_name[0] < '1' || e->d_name[0] > '9' || look_at(s, e->d_name))
			continue;
		if (clock_ms() > s->nodes.looks.until)
			return refuse(why, WHY_AGAIN, "who of the containers has the GPU open can't be seen in %d s: they have very "
			    "many files open (the last one seen is PID %s)", HOLDERS_MS / 1000, e->d_name);
		return refuse(why, WHY_IO, "/proc/%s: whether it has the GPU open can't be seen", e->d_name);
	}
	return errno == 0 ? 0 : refuse(why, WHY_IO, "/proc: %s", strerror(errno));
}

int
holders_find(const struct edit_node *node, size_t nodes, pid_t *holder, struct why *why)
{
	autofree struct search *s = calloc(1, sizeof(*s));
	autofree bool *held = calloc(nodes + 1, sizeof(*held));
	int fd, ret;
	DIR *d;

	memset(holder, 0, nodes * sizeof(*holder));
	if (s == NULL || held == NULL)
		return refuse_nomem(why);
	fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if ((d = fd != -1 ? fdopendir(fd) : NULL) == NULL) {
		if (fd != -1)
			close(fd);
		return refuse(why, WHY_IO, "/proc: %s", strerror(errno));
	}
	s->holder = holder;
	s->all_seen = in_first_namespace(fd);
	s->nodes = (struct node_search){ .proc = fd, .node = node, .nodes = nodes, .held = held,
		.looks = { UINT32_MAX, clock_ms() + HOLDERS_MS } };
	ret = home_of(fd, "self", &s->ours) ? look_at_all(s, d, why) :
	    refuse(why, WHY_IO, "/proc/self/ns: %s", strerror(errno));
	closedir(d);
	return ret;
}
