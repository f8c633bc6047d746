/*
 * Copies of this process that look at a part of the processes each, beside it, where a scan of all of them would take
 * long. What they find is in memory that they share with it.
 */
#ifndef GPUHELPER_LOOK_COPIES_H
#define GPUHELPER_LOOK_COPIES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define COPIES_MAX 3
#define COPY_NODES_MAX 1024	/* nodes that are searched for; with more, there are no copies */

/* What a copy found. */
struct copy_part {
	volatile pid_t at;	/* the process that it is looking at */
	pid_t unsteady, slow;	/* as in struct incomplete (nodeopeners.c) */
	pid_t opener[COPY_NODES_MAX];
};

/* Maps the memory. To be called before the filter is installed, which allows no shared mapping. */
void copies_prepare(void);

struct copies {
	pid_t pid[COPIES_MAX];
	size_t n;
};

/* How many copies are useful to look at so many processes: none for few of them, or with one processor. */
size_t copies_wanted(size_t processes, size_t nodes);

/*
 * Starts another copy. Returns 1 with *part in the copy, which fills it in, and ends by copy_end(). 0 in this process.
 * -1: it can't be started.
 */
int copy_begin(struct copies *c, struct copy_part **part);
/* Ends a copy. seen: it has looked at all of its processes. */
_Noreturn void copy_end(bool seen);

/*
 * Waits for the end of the copy c->pid[i]. *at is the process that it is looking at meanwhile. Returns what it found,
 * or NULL if it did not look at all of its processes; *at is then the one that it was looking at.
 */
const struct copy_part *copy_await(const struct copies *c, size_t i, volatile pid_t *at);

#endif
