/*
 * See opennode.h. Looks at /proc only, because others wait for the lock meanwhile. Must never make a file
 * system answer: its owner may let it stall (FUSE).
 */
#include "opennode.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../clock.h"
#include "../file.h"
#include "fdinfo.h"
#include "namespaces.h"
#include "procdir.h"
#include "process.h"
#include "threads.h"

#define LINES_A_STEP 64
#define READINGS 12		/* readings of a socket's queue: what is received meanwhile does not count */

/*
 * What is searched for. With «held», the search marks every node that it finds; without, the first one ends
 * it.
 */
struct wanted {
	const struct edit_node *node;
	size_t nodes;
	bool *held;
	bool *in_flight;	/* NULL: descriptors in flight do not matter */
	struct budget *budget;
	struct non_node *non_node;
	bool missed;		/* something vanished before it could be looked at */
	bool fewer;		/* some descriptors were not listed (threads.h) */
};

bool
budget_spend(struct budget *l)
{
	const int64_t now = clock_ms();

	if (l->until == 0)
		l->until = now + SCAN_MS;
	if (l->left == 0 || now > l->until)
		return false;
	l->left--;
	return true;
}

/* True if the search ends here. */
static bool
is_node(const struct statx *st, struct wanted *w)
{
	size_t i;

	for (i = 0; S_ISCHR(st->stx_mode) && i < w->nodes; i++)
		if (st->stx_rdev_major == w->node[i].major && st->stx_rdev_minor == w->node[i].minor) {
			if (w->held == NULL)
				return true;
			w->held[i] = true;
		}
	return false;
}

/*
 * True if the link leads to one of the nodes, or can't be followed. A user's file system that refuses root
 * has no usable nodes.
 */
static bool
link_is_node(int dir, const char *name, struct wanted *w, struct statx *st)
{
	if (statx(dir, name, AT_STATX_DONT_SYNC, STATX_TYPE | STATX_INO, st) == 0)
		return is_node(st, w);
	st->stx_mode = 0;
	if (!process_is_gone(errno))
		return !link_exists(dir, name, errno);
	w->missed = true;
	return false;
}

/* Programs receive at once what is passed to them. A descriptor that stays in the queue can be found nowhere else. */
static void
look_into_socket(int proc, const char *thread, const char *fd, struct wanted *w)
{
	unsigned i = READINGS;
	long n;

	while ((n = fdinfo_in_flight(proc, thread, fd)) > 0 && --i > 0)
		sched_yield();
	if (n > 0)
		*w->in_flight = true;
	w->missed = w->missed || n == FDINFO_GONE;
}

static bool
thread_links_once(int proc, const char *thread, struct wanted *w)
{
	bool has = false, gone;
	off_t listed = 0;
	struct statx st;
	struct dirent *e;
	char name[64];
	DIR *d;

	snprintf(name, sizeof(name), "%.50s/fd", thread);
	if ((d = thread_dir(proc, name, &gone)) == NULL)
		return !gone;
	while (!has && (errno = 0, e = readdir(d)) != NULL)
		if (e->d_name[0] != '.') {
			has = !budget_spend(w->budget) || link_is_node(dirfd(d), e->d_name, w, &st);
			if (!has && w->in_flight != NULL && !*w->in_flight && S_ISSOCK(st.stx_mode))
				look_into_socket(proc, thread, e->d_name, w);
			listed++;
		}
	has = has || (errno != 0 && !process_is_gone(errno));
	w->fewer = !thread_lists_all_fds(d, listed);
	closedir(d);
	return has;
}

static bool
thread_links_to(int proc, const char *thread, struct wanted *w)
{
	struct rescan again = { 0 };

	w->missed = false;
	do {
		if (thread_links_once(proc, thread, w))
			return true;
		again.fewer = w->fewer;
	} while (rescan_due(&again, &w->missed));
	return again.never_still;
}

bool
thread_has_open(int proc, const char *thread, const struct edit_node *node, size_t nodes, struct budget *budget)
{
	return thread_links_to(proc, thread, &(struct wanted){ .node = node, .nodes = nodes, .budget = budget });
}

static bool
is_known_non_node(const struct non_node *p, unsigned major, unsigned minor, unsigned long long inode)
{
	size_t i;

	for (i = 0; i < p->n && i < NON_NODES_MAX; i++)
		if (p->file[i].inode == inode && p->file[i].major == major && p->file[i].minor == minor)
			return true;
	return false;
}

static void
add_non_node(struct non_node *p, unsigned major, unsigned minor, unsigned long long inode)
{
	const size_t at = p->n++ % NON_NODES_MAX;

	p->file[at].major = major;
	p->file[at].minor = minor;
	p->file[at].inode = inode;
}

/*
 * Looks at one line of /proc/PID/maps: «7f00-7f10 rw-s 00000000 00:05 1234 /dev/nvidia0». Follows the link in
 * map_files, because a node can have any name.
 */
static bool
line_is_node(int maps, const char *line, struct wanted *w)
{
	unsigned long long begin, end, inode;
	unsigned major, minor;
	struct statx st;
	char link[40];

	if (sscanf(line, "%llx-%llx %*s %*s %x:%x %llu", &begin, &end, &major, &minor, &inode) != 5)
		return true;
	if (inode == 0 || is_known_non_node(w->non_node, major, minor, inode))
		return false;
	if (!budget_spend(w->budget))
		return true;
	snprintf(link, sizeof(link), "%llx-%llx", begin, end);
	if (link_is_node(maps, link, w, &st))
		return true;
	/*
	 * remember it only if stat says the same numbers: on overlay and btrfs several files can have those
	 * of the line
	 */
	if (S_ISREG(st.stx_mode) && st.stx_dev_major == major && st.stx_dev_minor == minor && st.stx_ino == inode)
		add_non_node(w->non_node, major, minor, inode);
	return false;
}

static bool
is_living(int proc, const char *tid)
{
	uint64_t ignored;

	return ns_find(proc, tid, "mnt", &ignored) || !process_is_gone(errno);
}

static bool
find_thread(int proc, const char *pid, char tid[16], bool *missed)
{
	bool found = is_living(proc, pid), gone;
	size_t listed = 0;
	struct dirent *e;
	char name[40];
	DIR *d;

	snprintf(tid, 16, "%.15s", pid);
	snprintf(name, sizeof(name), "%.15s/task", pid);
	/*
	 * if the threads can't be listed now, go on with the process: looking at it then fails and is
	 * reported
	 */
	if (found || (d = thread_dir(proc, name, &gone)) == NULL)
		return found || !gone;
	while (!found && (errno = 0, e = readdir(d)) != NULL) {
		if (e->d_name[0] == '.')
			continue;
		listed++;
		if ((found = is_living(proc, e->d_name)))
			snprintf(tid, 16, "%.15s", e->d_name);
	}
	found = found || (errno != 0 && !process_is_gone(errno));
	/* a zombie has only its first thread */
	*missed = listed > 1 || thread_count(dirfd(d)) > 1;
	closedir(d);
	return found;
}

int
process_thread(int proc, const char *pid, char tid[16])
{
	struct rescan again = { 0 };
	bool missed = false;

	do {
		if (find_thread(proc, pid, tid, &missed))
			return 1;
	} while (rescan_due(&again, &missed));
	if (again.never_still)
		errno = EAGAIN;
	return again.never_still ? -1 : 0;
}

/* The process's own program is no node, and can be looked at without any right. */
static void
know_program(int proc, const char *pid, struct non_node *non_node)
{
	struct statx st;
	char name[40];

	snprintf(name, sizeof(name), "%.15s/exe", pid);
	if (statx(proc, name, AT_STATX_DONT_SYNC, STATX_TYPE | STATX_INO, &st) == 0 && S_ISREG(st.stx_mode) &&
	    !is_known_non_node(non_node, st.stx_dev_major, st.stx_dev_minor, st.stx_ino))
		add_non_node(non_node, st.stx_dev_major, st.stx_dev_minor, st.stx_ino);
}

static bool
thread_maps_node(int proc, const char *tid, struct wanted *w)
{
	bool has = false, gone;
	char name[40], *line = NULL;
	unsigned lines = 0;
	size_t size = 0;
	FILE *file;
	DIR *maps;
	int fd;

	know_program(proc, tid, w->non_node);
	snprintf(name, sizeof(name), "%.15s/map_files", tid);
	if ((maps = thread_dir(proc, name, &gone)) == NULL)
		return !gone;
	snprintf(name, sizeof(name), "%.15s/maps", tid);
	fd = file_open_beneath(proc, name, O_RDONLY);
	gone = fd == -1 && process_is_gone(errno);
	if (fd == -1 || (file = fdopen(fd, "r")) == NULL) {
		if (fd != -1)
			close(fd);
		closedir(maps);
		return !gone;
	}
	/* mappings without a file take time, too, and can be very many */
	while (!has && (errno = 0, getline(&line, &size, file)) != -1)
		has = (++lines % LINES_A_STEP == 0 && !budget_spend(w->budget)) || line_is_node(dirfd(maps), line, w);
	has = has || (errno != 0 && !process_is_gone(errno));
	free(line);
	fclose(file);
	closedir(maps);
	return has;
}

static bool
maps_node(int proc, const char *pid, struct wanted *w)
{
	struct rescan again = { 0 };
	char tid[16];
	int found;

	w->missed = false;
	do {
		if ((found = process_thread(proc, pid, tid)) != 1)
			return found == -1;
		if (thread_maps_node(proc, tid, w))
			return true;
		w->missed = w->missed || !thread_stays(proc, tid);
	} while (rescan_due(&again, &w->missed));
	return again.never_still;
}

struct opening {
	int proc;
	struct wanted *wanted;
};

static bool
thread_has(void *ctx, const char *thread, bool unshared_fds)
{
	const struct opening *o = ctx;

	return unshared_fds && thread_links_to(o->proc, thread, o->wanted);
}

static bool
threads_have_open(int proc, const char *pid, struct wanted *w)
{
	return thread_any(proc, pid, thread_has, &(struct opening){ proc, w });
}

bool
process_has_mapped(int proc, const char *pid, const struct edit_node *node, size_t nodes, struct budget *budget)
{
	struct non_node non_node = { .n = 0 };

	return maps_node(proc, pid, &(struct wanted){ .node = node, .nodes = nodes, .budget = budget, .non_node = &non_node });
}

bool
process_holds(pid_t pid, const struct edit_node *node, size_t nodes, struct budget *budget)
{
	autoclose int proc = procdir_open(O_RDONLY);
	struct non_node non_node = { .n = 0 };
	struct wanted w = { .node = node, .nodes = nodes, .budget = budget, .non_node = &non_node };
	char name[16];

	snprintf(name, sizeof(name), "%d", pid);
	return proc == -1 || threads_have_open(proc, name, &w) || maps_node(proc, name, &w);
}

bool
process_find_held(struct node_search *s, const char *pid)
{
	struct wanted w = { .node = s->node, .nodes = s->nodes, .held = s->held, .in_flight = &s->in_flight,
		.budget = &s->budget, .non_node = &s->non_node };

	return !threads_have_open(s->proc, pid, &w) && !maps_node(s->proc, pid, &w);
}
