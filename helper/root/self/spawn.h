/*
 * The programs of ours that the helper starts before it reads its request (root/main.c). They are executed, so that
 * their memory has nothing of this process.
 */
#ifndef GPUHELPER_ROOT_SELF_SPAWN_H
#define GPUHELPER_ROOT_SELF_SPAWN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "../../base/why.h"
#include "filter.h"

/*
 * The descriptors of such a program, after 0 to 2, which are /dev/null. The channel is a stream socket to the helper.
 * The helper's slot (slots.h) makes a child that can't be ended still count against its user. The third one is a
 * process file system of its own (ownproc.h). Without a slot, or such a file system, they are /dev/null.
 */
enum { SPAWN_CHANNEL = 3, SPAWN_SLOT, SPAWN_PROC, SPAWN_PROGRAM };

/* A program of ours that was started, or could not be. */
struct spawned {
	const char *name;
	bool own_user;		/* it runs as the user of its name (host/own/ownprogram.h), not as root */
	uint32_t ask_max, answer_max;	/* limits of question and answer, in bytes */
	const char *file;	/* the program's file, if that has another name */
	bool own_proc;		/* it has SPAWN_PROC */
	bool moves;		/* leave_cgroup() moves it along (owncgroup.h) */
	const int *kept;	/* with own_user: capabilities(7) that it has all the same */
	size_t n;
	uint32_t uid, gid;	/* of its user */
	bool executing;		/* it was told to start */
	bool slow;		/* its work may take long: it is killed at once when it is to end */
	int channel;		/* this end, close-on-exec; -1: the program does not run */
	pid_t pid;		/* 0: the same */
	struct why why;		/* why it does not run */
};

/*
 * Forks a process for the program p->name, or p->file (host/own/ownprogram.h). It executes the program, with an empty
 * environment, at spawned_exec(), or at its first question. If that fails, p->why says why.
 */
void spawned_start(struct spawned *p);

/* Calls move(ctx, process) for each program that runs and is to be moved along. False if one call returns false. */
bool spawned_move(bool (*move)(int ctx, pid_t process), int ctx);

/* Gets the processes of the started programs, for the filter, which must allow killing them. Returns their number. */
size_t spawned_pids(uint32_t pid[FILTER_CHILDREN_MAX]);

/*
 * Ends all programs: each has a moment to end by itself, then it is killed. Returns when they are gone, or when SIGKILL
 * does not end one for now. To be called before leave() (enter.h): afterwards this process may not signal a program,
 * nor would PR_SET_PDEATHSIG, because the kernel sends that signal with the rights of the parent.
 */
void spawned_end_all(void);

/* Has the program start now, because it will get a question soon. */
void spawned_exec(struct spawned *p);

/* Ends the program. From now on every question to it is refused with *why. Returns -1. */
int spawned_give_up(struct spawned *p, const struct why *why);

/* Returns 0 if the program runs, or -1 with *why. */
int spawned_check(const struct spawned *p, struct why *why);

/* Sends a question of «asked» bytes. -1 with *why: the program gets no other question. */
int spawned_ask(struct spawned *p, const char *question, size_t asked, struct why *why);
/*
 * Waits «ms» milliseconds for the answer to it. The caller frees the answer, which has *len bytes. NULL with *why:
 * there was no answer, and the program gets no other question.
 */
char *spawned_receive(struct spawned *p, int ms, size_t *len, struct why *why);

#endif
