/*
 * Processes that the helper starts before it hears anyone (enter.c): a copy of itself (looker.h), or another program of
 * ours, which is executed, so that it has nothing of this process in its memory.
 */
#ifndef GPUHELPER_ROOT_SPAWN_H
#define GPUHELPER_ROOT_SPAWN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "../pure/why.h"
#include "filter.h"

/*
 * The descriptors of such a process, beside /dev/null as 0 to 2: a stream socket, by which it speaks to the helper; and
 * the helper's place (crowd.h), or /dev/null where there is none, so that who can't be ended counts as his user's.
 */
enum { SPAWN_CHANNEL = 3, SPAWN_PLACE, SPAWN_PROGRAM };

/* In the new process: it has these, *program (NULL: none) as SPAWN_PROGRAM until it executes one, and no other. */
bool spawn_settle(int channel, int *program);

/* In the new process: it ends with its parent, also where that has ended by now. */
void spawn_end_with(pid_t parent);

/* A program of ours that was started, or was to be. */
struct spawned {
	const char *name;
	bool own_user;		/* it runs as the user of its name (host/ownprogram.h), not as root */
	uint32_t ask_max, answer_max;	/* bytes of spawned_answer()'s */
	uint32_t uid, gid;	/* of its user */
	bool awake;		/* it was told to start */
	bool slow;		/* it may be at what takes long: it has no moment to end by itself */
	int channel;		/* this end, close-on-exec; -1: there is none */
	pid_t pid;		/* 0: likewise */
	struct why why;		/* why there is none any more */
};

/*
 * Starts the program of p->name (host/ownprogram.h), with an empty environment: once it is woken or asked, and not if
 * nobody does either.  Where it can't be started p->why says why.
 */
void spawned_start(struct spawned *p);

/* The processes of the programs that were started, for the filter, which has to let them be killed.  How many. */
size_t spawned_pids(uint32_t pid[FILTER_CHILDREN_MAX]);

/*
 * Ends the program: it has a moment to end by itself, then it is killed.  Returns when the program is gone, or when no
 * signal ends it now.  To be called before leave() (enter.h): whoever is no longer root may not signal the program, and
 * the kernel sends the signal of PR_SET_PDEATHSIG with the rights of the parent that ends.
 */
void spawned_end(struct spawned *p);

/* It will be asked: until then it has the time to start. */
void spawned_wake(struct spawned *p);

/* It is not to be asked again; *why is the reason from now on, too.  -1. */
int spawned_give_up(struct spawned *p, const struct why *why);

/* -1 with *why: there is none. */
int spawned_check(const struct spawned *p, struct why *why);

/* Sends a question; its answer can be heard later.  -1 with *why: the program is not asked again. */
int spawned_ask(struct spawned *p, const char *question, size_t asked, struct why *why);

/*
 * The answer to that question, which the caller frees.  NULL with *why if it does not come within so many milliseconds:
 * the program is not asked again.
 */
char *spawned_hear(struct spawned *p, int ms, size_t *len, struct why *why);

/* Asks, and hears the answer. */
char *spawned_answer(struct spawned *p, const char *question, size_t asked, int ms, size_t *len, struct why *why);

#endif
