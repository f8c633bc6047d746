/*
 * A walk over all processes, to see that none of them has something. To hide it, a process can pass it on
 * during the walk, from a process not yet met to one already met. So the order is random, and processes that
 * start meanwhile are met, too. The walk also notes whether a process kept it waiting, which gives time to
 * pass things on: the kernel waits for a lock of that process, whose execve(2) for instance waits for a file
 * system of its own (fuse(4)).
 * A walk that was kept waiting proves nothing by finding nothing: repeat it.
 */
#ifndef GPUHELPER_LOOK_WALK_H
#define GPUHELPER_LOOK_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct walk {
	int proc;		/* descriptor of /proc */
	pid_t *pid;		/* to be met in this round */
	size_t pids, next;
	unsigned char *met;	/* a bit for each process id */
	unsigned round;
	pid_t at;		/* the process given out last; 0: none */
	long waits;		/* waits of this process until then (getrusage(2)) */
	pid_t kept_waiting;	/* the process that last kept the walk waiting; 0: none */
	bool full;		/* no process did so, but too many started all the time */
	bool failed;		/* /proc could not be read, or memory is short */
};

/* Begins a walk. The caller calls walk_end() in any case. */
void walk_begin(struct walk *w);

/* Gets the next process id. False if none is left, or w->failed. */
bool walk_next(struct walk *w, char pid[16]);

/* Notes whether the process given out last kept the walk waiting. This process may then wait for something else. */
void walk_note_wait(struct walk *w);

/* How many processes are left of this round. */
size_t walk_left(const struct walk *w);
/*
 * Leaves so many of these to a copy of this process, whose walk_take_share() leaves all others to this process. The
 * next round must wait until both have looked at theirs: a process that starts before that may have got something from
 * them.
 */
void walk_give_share(struct walk *w, size_t processes);
void walk_take_share(struct walk *w, size_t processes);

void walk_end(struct walk *w);

/*
 * How often this process had to wait so far (getrusage(2)); -1 if the kernel does not tell. Always 0, after
 * walk_begin(), if a debugger traces this process.
 */
long walk_waits(void);
#define autowalk __attribute__((cleanup(walk_end)))

#endif
