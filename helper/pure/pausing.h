/*
 * Containers whose process 1 only pauses (Concourse's gdn-init): each task is an
 * exec into one, and the container outlives it.  The lease of such a container
 * ends when its task is over.  Values in, decisions out; looking at processes,
 * time and files are root/idle.c's.
 */
#ifndef GPUHELPER_PURE_PAUSING_H
#define GPUHELPER_PURE_PAUSING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lines.h"
#include "processid.h"

#define LEFT_BEHIND_KEEP UINT32_MAX
#define GIVING_BACK_MS 10000	/* after which a process that gives a GPU back is not waited for any more */
#define EXECS_MAX 256		/* under way at a time, in one container */

/* What becomes of the GPUs of a container whose task is over. */
enum idle_setting {
	IDLE_GIVE_BACK,		/* the container stays, without them */
	IDLE_STOP,		/* its process 1 is ended */
	IDLE_KEEP,		/* it keeps them as long as it is there */
};

/* A file, whatever its name is. */
struct file_id {
	uint32_t major, minor;
	uint64_t inode;
};
bool file_id_same(const struct file_id *a, const struct file_id *b);

/* How a lease stands. */
enum lease_state {
	LEASE_HELD,
	LEASE_DRAINING,		/* given up, and still in use */
	LEASE_GIVING_BACK,	/* a process takes the container's access to its nodes away (pausing.giver) */
	LEASE_GIVEN_BACK,	/* its GPUs are free; the container is there */
	LEASE_COMING_BACK,	/* a process that starts a task there (pausing.giver) is having them again */
	LEASE_PASSED_ON,	/* the container is gone, and someone may have what it passed on of its folders: no more is held */
};
const char *lease_state_name(enum lease_state s);
/* As a word (lines.h). */
enum lease_state lease_state_word(struct lines *s, enum lease_state state);

/* What a lease knows of its container's tasks. */
struct pausing {
	struct file_id program;		/* that process 1 must run to count as pausing */
	char *gate;			/* the cgroup that holds its device rules, relative to /sys/fs/cgroup; NULL: unknown */
	enum idle_setting idle;
	uint32_t first_exec;		/* seconds in which the first exec is to come */
	uint32_t left_behind;		/* seconds that processes of an ended task may stay, or LEFT_BEHIND_KEEP */
	int64_t created;		/* clock_ms() */
	bool used;			/* an exec was made */
	bool shut;			/* its nodes were taken from it before: each exec opens them to it again */
	struct process_id *exec;	/* runtimes that put a process into it, when last seen */
	size_t execs;
	int64_t left_since;		/* clock_ms() when its task was first seen over, and processes left; 0: not so */
	struct process_id giver;	/* LEASE_GIVING_BACK, LEASE_COMING_BACK: who is at it */
	int64_t giving_since;		/* since when; clock_ms() */
	uint32_t waited;		/* seconds that it waited for its GPUs */
	uint32_t uid, gid;		/* of the process that the container was made for; ids inside */
	char *who;			/* its identity (identity_pack()), by which it may come back; NULL: it may not */
};
void pausing_free(struct pausing *p);

/* Adds a runtime that puts a process into it.  False: no memory, or EXECS_MAX are there. */
bool pausing_add_exec(struct pausing *p, struct process_id runtime);

/* A process as two words, and all of it as lines (lines.h); what is none fails, and is to be freed, too. */
void process_id_words(struct lines *s, struct process_id *p);
void pausing_lines(struct lines *s, struct pausing *p);

/* What root saw of the container. */
struct sight {
	bool pauses;		/* process 1 runs the program that pauses */
	bool alone;		/* nobody else is in the container's cgroups */
	bool task;		/* a process that came by an exec is */
	bool has_node;		/* process 1 has a granted node open or mapped */
	bool execs;		/* a runtime is putting a process into it */
};

enum idleness {
	IDLENESS_BUSY,
	IDLENESS_LEFT,		/* its task is over, and processes of it are left */
	IDLENESS_IDLE,
};
enum idleness pausing_judge(const struct pausing *p, const struct sight *s, int64_t now);

/* What an exec finds. */
enum exec_turn {
	EXEC_GOES_ON,		/* the GPUs are there, or there is nothing to be had any more */
	EXEC_OPENS,		/* they are there once the container's access is opened again */
	EXEC_WAITS,		/* someone is at it right now: ask again */
	EXEC_COMES_BACK,	/* they were given back: they may be had again */
};
enum exec_turn turn_of_exec(enum lease_state s, const struct pausing *p, bool giver_lives, int64_t now);

/* Has the process that is at it (LEASE_GIVING_BACK, LEASE_COMING_BACK) ended, or been at it for too long? */
bool turn_is_stale(const struct pausing *p, bool giver_lives, int64_t now);

/* May this process (*me) begin to give the GPUs back, or go on where another one stopped? */
bool turn_to_give_back(enum lease_state s, const struct pausing *p, enum idleness i, const struct process_id *me,
    bool giver_lives, int64_t now);

/* *me has taken the container's access away: is the lease over? */
bool turn_to_end(enum lease_state s, const struct pausing *p, enum idleness i, const struct process_id *me);

#endif
