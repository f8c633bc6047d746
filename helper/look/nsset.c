/* See nsset.h. Looks at /proc only. */
#include "nsset.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../base/cleanup.h"
#include "../host/file.h"
#include "../host/process/namespaces.h"
#include "../host/process/procdir.h"
#include "../host/process/process.h"
#include "../host/process/threads.h"

#define NESTED_MAX 32		/* nested PID namespaces at most (MAX_PID_NS_LEVEL of the kernel) */

struct ns_search {
	int proc;
	const char *kind;
	uint64_t inode;
	struct ns_set *set;
	unsigned depth;			/* of the PID namespace «inode»; our own has depth 1 */
	bool unsure;			/* a process whose namespace could not be seen may be in it */
	struct process_id process;	/* with its number in that namespace */
};

/* Looks at one process (PID beneath s->proc); true ends the search. */
typedef bool process_test(struct ns_search *s, const char *pid);

static bool
each_process(struct ns_search *s, process_test *test)
{
	int fd = procdir_open(O_RDONLY);
	DIR *d = file_list(fd);
	bool found = false;
	struct dirent *e;

	if (d == NULL)
		return true;
	s->proc = fd;
	while (!found && (errno = 0, e = readdir(d)) != NULL)
		found = e->d_name[0] >= '1' && e->d_name[0] <= '9' && test(s, e->d_name);
	found = found || errno != 0;
	closedir(d);
	return found;
}

/* What was seen of the threads of one process. */
struct seen {
	int proc;
	const char *kind;
	uint64_t inode;			/* of the first thread that could be looked at */
	bool any, mixed;		/* a thread was seen; another one was elsewhere or could not be seen */
	struct ns_set *set;		/* gets each inode; may be NULL */
};

static bool
add_inode(struct ns_set *s, uint64_t inode)
{
	const size_t room = s->room > 0 ? 2 * s->room : 256;
	uint64_t *v;

	/* processes listed one after the other are mostly in the same namespace */
	if (s->n > 0 && s->inode[s->n - 1] == inode)
		return true;
	if (s->n == s->room) {
		if ((v = reallocarray(s->inode, room, sizeof(*v))) == NULL)
			return false;
		s->inode = v;
		s->room = room;
	}
	s->inode[s->n++] = inode;
	return true;
}

/*
 * True if the thread has ended. The kernel also says EACCES for one that ends while its link is followed
 * (fs/proc/namespaces.c).
 */
static bool
thread_is_gone(int proc, const char *thread, int error)
{
	struct stat st;

	return process_is_gone(error) || (error == EACCES && fstatat(proc, thread, &st, 0) == -1 && process_is_gone(errno));
}

/*
 * Notes the namespace of one thread. True if it can't be seen or memory is short. A zombie is in no namespace
 * (ENOENT).
 */
static bool
note_thread(void *ctx, const char *thread, bool unshared_fds)
{
	struct seen *seen = ctx;
	uint64_t inode;

	(void)unshared_fds;
	if (!ns_find(seen->proc, thread, seen->kind, &inode)) {
		if (thread_is_gone(seen->proc, thread, errno))
			return false;
		seen->mixed = true;
		return true;
	}
	seen->mixed = seen->mixed || (seen->any && inode != seen->inode);
	if (!seen->any)
		seen->inode = inode;
	seen->any = true;
	if (seen->set == NULL || add_inode(seen->set, inode))
		return false;
	seen->mixed = true;
	return true;
}

/*
 * True if the threads show which namespace the process is in. Where threads come and go, those that were seen
 * decide, if all of them are in one namespace. Otherwise any user's busy process could be in any namespace.
 */
static bool
look_at_process(struct seen *seen, const char *pid)
{
	return !thread_any(seen->proc, pid, note_thread, seen) || (seen->any && !seen->mixed);
}

/*
 * Gets the numbers of a process, from our PID namespace to its own («NSpid:», proc(5)). Returns how many; 0
 * with errno if they can't be read.
 */
static unsigned
read_numbers(const struct ns_search *s, const char *pid, long out[NESTED_MAX])
{
	autofree char *text = NULL;
	char name[40], *p, *end;
	unsigned n = 0;

	snprintf(name, sizeof(name), "%.15s/status", pid);
	if ((text = file_read_at(s->proc, name, 1 << 20, NULL)) == NULL)
		return 0;
	errno = EINVAL;
	if ((p = strstr(text, "\nNSpid:")) == NULL)
		return 0;
	for (p += strlen("\nNSpid:"); n < NESTED_MAX && *p != '\n' && *p != '\0'; p = end) {
		out[n] = strtol(p, &end, 10);
		if (end == p)
			break;
		n++;
	}
	return n;
}

/*
 * Sets s->depth if the process is in the namespace. All threads of a process are in the same PID namespace.
 */
static bool
find_depth(struct ns_search *s, const char *pid)
{
	struct seen seen = { .proc = s->proc, .kind = s->kind };
	long numbers[NESTED_MAX];

	if (!look_at_process(&seen, pid)) {
		s->unsure = true;
		return false;
	}
	if (!seen.any || seen.inode != s->inode)
		return false;
	s->depth = read_numbers(s, pid, numbers);
	return s->depth > 0 || !process_is_gone(errno);
}

/*
 * True if the process has the number in that namespace. A process of another branch at that depth matches
 * number and start time only by chance.
 */
static bool
has_number(struct ns_search *s, const char *pid)
{
	long numbers[NESTED_MAX];
	unsigned n = read_numbers(s, pid, numbers);

	if (n == 0)
		return !process_is_gone(errno);
	if (n < s->depth || numbers[s->depth - 1] != s->process.pid)
		return false;
	return process_lives((pid_t)strtol(pid, NULL, 10), s->process.start);
}

static bool
collect_all(struct ns_search *s, const char *pid)
{
	struct seen seen = { .proc = s->proc, .kind = s->kind, .set = s->set };

	return !look_at_process(&seen, pid);
}

static int
by_inode(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

bool
ns_set_has(struct ns_set *s, const char *kind, uint64_t inode)
{
	struct ns_search all = { .kind = kind, .set = s };

	if (!s->read) {
		s->read = true;
		s->failed = each_process(&all, collect_all);
		if (s->n > 1)
			qsort(s->inode, s->n, sizeof(*s->inode), by_inode);
	}
	return s->failed || ns_set_surely_has(s, inode);
}

bool
ns_set_surely_has(const struct ns_set *s, uint64_t inode)
{
	return !s->failed && s->n > 0 && bsearch(&inode, s->inode, s->n, sizeof(*s->inode), by_inode) != NULL;
}

void
ns_set_free(struct ns_set *s)
{
	free(s->inode);
	*s = (struct ns_set){ 0 };
}

bool
ns_has_process(uint64_t pid_ns, struct process_id p)
{
	struct ns_search s = { .kind = "pid", .inode = pid_ns, .process = p };

	if (p.pid <= 0)
		return false;
	if (!each_process(&s, find_depth))
		return s.unsure;
	return s.depth == 0 || each_process(&s, has_number);
}
