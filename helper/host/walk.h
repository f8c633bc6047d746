/*
 * A walk over all processes, to see that none of them has something. Who wants to hide it passes it on while the walk
 * is under way: from a process that was not met yet to one that was. So nobody can guess the order; processes that
 * begin meanwhile are met, too; and it is known whether somebody kept the walk waiting, which gives him all the time
 * he needs: a wait in the kernel for a lock of his (an execve(2) that waits for his own file system, fuse(4)). What was
 * not found by such a walk may be there all the same: only one that nobody kept waiting is to be believed.
 */
#ifndef GPUHELPER_HOST_WALK_H
#define GPUHELPER_HOST_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct walk {
	int proc;		/* "/proc" */
	pid_t *pid;		/* to be met, in this round */
	size_t pids, next;
	unsigned char *met;	/* by number, a bit each */
	unsigned round;
	pid_t at;		/* whom the walk has given out last; 0: nobody */
	long waits;		/* of this process, until then (getrusage(2)) */
	pid_t kept_waiting;	/* who did, the last one; 0: nobody */
	bool crowded;		/* it was not he: more began all the while */
	bool failed;		/* /proc could not be read, or there was no memory */
};

/* Begins one; walk_end() in any case. */
void walk_begin(struct walk *w);

/* The next process, by its number; false: none is left, or w->failed. */
bool walk_next(struct walk *w, char pid[16]);

void walk_end(struct walk *w);

/*
 * How often this process has had to wait so far (getrusage(2)); -1 where that is not told, and always 0 where a
 * debugger has it, after walk_begin().
 */
long walk_waits(void);
#define autowalk __attribute__((cleanup(walk_end)))

#endif
