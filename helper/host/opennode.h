/* Which processes have device nodes open, or mapped? */
#ifndef GPUHELPER_HOST_OPENNODE_H
#define GPUHELPER_HOST_OPENNODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "../pure/edits.h"

#define INUSE_LOOKS 20000	/* at descriptors and mounts, for one user */
#define INUSE_MS 200		/* the same, in time: others wait meanwhile */

/* What is left of a share of looking around: processes may be many, and what they have. */
struct looks {
	unsigned left;
	int64_t until;		/* clock_ms(); 0: not begun */
};

/* Takes one look off; false: none is left, or the time is over. */
bool looks_take(struct looks *l);

/*
 * True if the task (PID/task/TID beneath the directory «proc») has a node of one
 * of these numbers open; or where that can't be seen, or not with *looks.
 */
bool task_has_open(int proc, const char *task, const struct edit_node *node, size_t nodes, struct looks *looks);

/* The same for what the process (PID beneath «proc») has mapped (proc(5), map_files). */
bool process_has_mapped(int proc, const char *pid, const struct edit_node *node, size_t nodes, struct looks *looks);

/* Both, for a process with all of its threads. */
bool process_holds(pid_t pid, const struct edit_node *node, size_t nodes, struct looks *looks);

#define PLAIN_MAX 256

/* Files that were seen to be no node, by the device and inode that /proc/PID/maps says of them; the latest. */
struct plain {
	struct {
		unsigned major, minor;
		unsigned long long inode;
	} file[PLAIN_MAX];
	size_t n;		/* that were seen in all */
};

/*
 * A thread of the process (PID beneath «proc») that lives, by its number: the
 * first one may have ended, and shows nothing any more of what the others have.
 * 1; 0 where there is none; -1 with errno EAGAIN where each time all were gone before
 * they could be looked at.
 */
int process_thread(int proc, const char *pid, char tid[16]);

/* What many processes, one after the other, are searched for. */
struct node_search {
	int proc;		/* "/proc" */
	const struct edit_node *node;
	size_t nodes;
	bool *held;		/* of each node */
	struct looks looks;
	struct plain plain;
};

/*
 * Sets s->held[i] of each node that the process has open or mapped, and leaves
 * the others'.  False where that can't be seen, or not with s->looks.
 */
bool process_marks(struct node_search *s, const char *pid);

#endif
