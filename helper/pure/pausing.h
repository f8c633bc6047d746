/*
 * Containers whose process 1 only pauses (Concourse's gdn-init). Each task is an exec into such a container. The
 * container outlives its task, but gives its GPUs back when the task is over. Computes decisions only: root/idle.c
 * looks at processes, the clock and files.
 */
#ifndef GPUHELPER_PURE_PAUSING_H
#define GPUHELPER_PURE_PAUSING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lines.h"
#include "processid.h"

#define LEFT_BEHIND_KEEP UINT32_MAX
#define GIVING_BACK_MS 10000	/* milliseconds that a process may take to give a GPU back */
#define EXECS_MAX 256		/* at a time, into one container */

/* What to do about the GPUs of a container whose task is over. */
enum idle_setting {
	IDLE_GIVE_BACK,		/* take the GPUs, and leave the container */
	IDLE_STOP,		/* end its process 1 */
	IDLE_KEEP,		/* leave it the GPUs until it ends */
};

/* Identifies a file, whatever its name. */
struct file_id {
	uint32_t major, minor;
	uint64_t inode;
};
bool file_id_same(const struct file_id *a, const struct file_id *b);

/* The state of a lease. */
enum lease_state {
	LEASE_HELD,
	LEASE_DRAINING,		/* ended, but its GPUs are still in use */
	LEASE_GIVING_BACK,	/* a process (pausing.giver) is taking the container's access to its nodes away */
	LEASE_GIVEN_BACK,	/* its GPUs are free; the container still exists */
	LEASE_COMING_BACK,	/* a process (pausing.giver) that starts a task is taking GPUs for it again */
	LEASE_PASSED_ON,	/* the container is gone, but someone may have what it passed on: holds only its ways */
};
const char *lease_state_name(enum lease_state s);
/* Writes or reads it as a word (lines.h). */
enum lease_state lease_state_word(struct lines *s, enum lease_state state);

/* What a lease knows of its container's tasks. */
struct pausing {
	struct file_id program;		/* process 1 runs this program if the container only pauses */
	char *gate;			/* the cgroup that holds its device rules, relative to /sys/fs/cgroup; NULL: unknown */
	enum idle_setting idle;
	uint32_t first_exec;		/* seconds in which the first exec must come */
	uint32_t left_behind;		/* seconds that processes of an ended task may stay, or LEFT_BEHIND_KEEP */
	int64_t created;		/* clock_ms() */
	bool used;			/* an exec was made */
	bool shut;			/* its access was taken away before, so each exec must open the nodes to it */
	struct process_id *exec;	/* runtimes that put a process into it, when last seen */
	size_t execs;
	int64_t left_since;		/* clock_ms() when its task was first seen to be over with processes left; 0: never */
	struct process_id giver;	/* LEASE_GIVING_BACK, LEASE_COMING_BACK: the process that does it */
	int64_t giving_since;		/* clock_ms() when the giver began */
	uint32_t waited;		/* seconds that it waited for its GPUs */
	uint32_t uid, gid;		/* of the process that the container was made for; ids inside */
	char *who;			/* identity (identity_pack()) for taking GPUs again; NULL: not allowed */
};
void pausing_free(struct pausing *p);

/* Adds a runtime that puts a process into it. False if memory is short or there are EXECS_MAX. */
bool pausing_add_exec(struct pausing *p, struct process_id runtime);

/*
 * Write or read a process as two words, and all of *p as lines (lines.h). To be freed after a failed read,
 * too.
 */
void process_id_words(struct lines *s, struct process_id *p);
void pausing_lines(struct lines *s, struct pausing *p);

/* What root saw of the container. */
struct sight {
	bool pauses;		/* process 1 runs the program that pauses */
	bool alone;		/* the container's cgroups have no other process */
	bool task;		/* they have one that came by an exec */
	bool has_node;		/* process 1 has a granted node open or mapped */
	bool execs;		/* a runtime is putting a process into it */
};

enum idleness {
	IDLENESS_BUSY,
	IDLENESS_LEFT,		/* its task is over, but left processes behind */
	IDLENESS_IDLE,
};
enum idleness pausing_judge(const struct pausing *p, const struct sight *s, int64_t now);

/* What an exec must do about the GPUs. */
enum exec_turn {
	EXEC_GOES_ON,		/* nothing: the container has its GPUs, or can't get them any more */
	EXEC_OPENS,		/* open the container's access to them */
	EXEC_WAITS,		/* ask again: another process is changing the lease */
	EXEC_COMES_BACK,	/* take GPUs again: they were given back */
};
enum exec_turn turn_of_exec(enum lease_state s, const struct pausing *p, bool giver_lives, int64_t now);

/*
 * True if the process that changes the lease (LEASE_GIVING_BACK, LEASE_COMING_BACK) ended or takes too long.
 */
bool turn_is_stale(const struct pausing *p, bool giver_lives, int64_t now);

/* True if the process *me may begin to give the GPUs back, or continue where another one stopped. */
bool turn_to_give_back(enum lease_state s, const struct pausing *p, enum idleness i, const struct process_id *me,
    bool giver_lives, int64_t now);

/* True if the lease is over, now that *me has taken the container's access away. */
bool turn_to_end(enum lease_state s, const struct pausing *p, enum idleness i, const struct process_id *me);

#endif
