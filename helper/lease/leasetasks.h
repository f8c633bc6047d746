/*
 * Containers whose process 1 only pauses (Concourse's gdn-init). Each task is an exec into such a container. The
 * container is only promised GPUs: it has the nodes of all that its policy's rules may give, and can open none of them.
 * A task acquires the GPUs (root/verb/task.c), and they are revoked when the task is over. Computes decisions only:
 * root/end/idle.c looks at processes, the clock and files.
 */
#ifndef GPUHELPER_LEASE_LEASETASKS_H
#define GPUHELPER_LEASE_LEASETASKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../base/lines.h"
#include "../gpu/pick.h"
#include "../kernel/devnum.h"
#include "../kernel/processid.h"

#define LEFT_BEHIND_KEEP UINT32_MAX
#define GPUHELPER_AGAIN "GPUHELPER_GPUS=again"	/* in an exec's environment: this process takes the GPUs, too */
#define PROMISED_GPUS_MAX 64	/* more are not promised: the container takes its GPUs when it is created */
#define PROMISED_NODES_MAX 256

/* What to do about the GPUs of a container whose task is over. */
enum idle_setting {
	IDLE_GIVE_BACK,		/* revoke the GPUs, and leave the container */
	IDLE_STOP,		/* end its process 1 */
	IDLE_KEEP,		/* leave it the GPUs until it ends */
};

/* Identifies a file, whatever its name. */
struct file_id {
	uint32_t major, minor;
	uint64_t inode;
};
bool file_id_same(const struct file_id *a, const struct file_id *b);

/* The state of a lease. Files and messages have the words in quotes (lease_state_name()), which are older. */
enum lease_state {
	LEASE_HELD,		/* "held" */
	LEASE_RELEASING,	/* "draining": ended, but its GPUs are still in use */
	LEASE_REVOKING,	/* "giving-back": a process (tasks.changer) is taking the container's access to its nodes away */
	LEASE_PROMISED,		/* "promised": it holds no GPU: no task is there, or a task waits */
	LEASE_ACQUIRING,	/* "taking": a process (tasks.changer) is acquiring GPUs for a task (tasks.task) */
	/* "passed-on": the container is gone, but a process may have its folders: holds only their lookup paths */
	LEASE_LEAKED,
};
const char *lease_state_name(enum lease_state s);
/* Writes or reads it as a field (lines.h). */
enum lease_state lease_state_word(struct lines *s, enum lease_state state);

/* A node of the GPUs that were promised. The container has it in any case. */
struct promised_node {
	uint32_t major, minor;
	bool allowed;			/* the container's device rules allow it, as long as the lease is held */
};

/* What a lease knows of its container's tasks. */
struct lease_tasks {
	struct file_id program;		/* process 1 runs this program if the container only pauses */
	char *devcgroup;			/* the cgroup that holds its device rules, relative to /sys/fs/cgroup; NULL: unknown */
	enum idle_setting idle;
	uint32_t left_behind;		/* seconds that processes of an ended task may stay, or LEFT_BEHIND_KEEP */
	char *asked;			/* the GPUs in the container's own words; NULL: it asked for all that the policy gives */
	struct leased_gpu *promised_gpu;		/* the promised GPUs: those that a task may acquire some of */
	size_t promised_gpus;
	struct promised_node *node;	/* all nodes of these */
	size_t nodes;
	struct process_id task;		/* the process that the GPUs were acquired for: the waiter, which becomes the task */
	int64_t left_since;		/* clock_ms() when its task was first seen to be over with processes left; 0: never */
	struct process_id changer;	/* LEASE_REVOKING, LEASE_ACQUIRING: the process that does it */
	int64_t changing_since;		/* clock_ms() when the changer began */
	uint32_t waited;		/* seconds that it waited for its GPUs */
	uint32_t uid, gid;		/* of the process that the container was made for; ids inside */
	char *who;			/* whose it is (attribution_pack()), by which a task is judged; NULL: it can't be */
};
void lease_tasks_free(struct lease_tasks *p);

/* Sets which of the nodes are allowed: those of v[0, n). Nodes that were not promised are left out. */
void lease_tasks_allow(struct lease_tasks *p, const struct devnum *v, size_t n);

/*
 * Write or read a process as two fields, and all of *p as lines (lines.h). To be freed after a failed read,
 * too.
 */
void process_id_fields(struct lines *s, struct process_id *p);
void lease_tasks_lines(struct lines *s, struct lease_tasks *p);

/* What root saw of the container. */
struct activity {
	bool placeholder;		/* process 1 runs the program that pauses */
	bool alone;		/* the container's cgroups have no other process */
	bool task;		/* they have one that came by an exec, or tasks.task lives */
	bool has_node;		/* process 1 has a granted node open or mapped */
};

enum idleness {
	IDLENESS_BUSY,
	IDLENESS_LEFT,		/* its task is over, but left processes behind */
	IDLENESS_IDLE,
};
enum idleness activity_classify(const struct activity *s);

/*
 * True if the process that changes the lease (LEASE_REVOKING, LEASE_ACQUIRING) ended or takes too long.
 */
bool changer_is_stale(const struct lease_tasks *p, bool changer_lives, int64_t now);

/* What a task must do that asks for the promised GPUs. */
enum task_next {
	TASK_ACQUIRES,		/* take them */
	TASK_JOINS,		/* the container has them: another process in it took them */
	TASK_WAITS,		/* ask again: another process is changing the lease */
	TASK_FAILS,		/* the container is ending */
};
enum task_next task_next_of(enum lease_state s, const struct lease_tasks *p, bool changer_lives, int64_t now);

/* True if the process *me may begin to revoke the GPUs, or continue where another one stopped. */
bool may_revoke(enum lease_state s, const struct lease_tasks *p, enum idleness i, const struct process_id *me,
    bool changer_lives, int64_t now);

/* True if the GPUs are free, now that *me has taken the container's access away. */
bool may_end_revoking(enum lease_state s, const struct lease_tasks *p, enum idleness i, const struct process_id *me);

/* Milliseconds from now until left processes may be ended; -1: they may stay for ever. */
int64_t left_remains(const struct lease_tasks *p, int64_t now);

#endif
