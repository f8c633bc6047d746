/* Which processes have device nodes open or mapped. */
#ifndef GPUHELPER_HOST_PROCESS_OPENNODE_H
#define GPUHELPER_HOST_PROCESS_OPENNODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "../../lease/edits.h"
#include "scanbudget.h"

/* Spends one step. False if none is left or time is up. */
bool budget_spend(struct budget *l);

/*
 * True if the thread (PID/task/TID beneath the directory «proc») has a node with one of these numbers open.
 * True as well if that can't be seen, or if *budget does not suffice.
 */
bool thread_has_open(int proc, const char *thread, const struct edit_node *node, size_t nodes, struct budget *budget);

/* The same for nodes that the process (PID beneath «proc») has mapped (proc(5), map_files). */
bool process_has_mapped(int proc, const char *pid, const struct edit_node *node, size_t nodes, struct budget *budget);

/* Both, for a process with all of its threads. */
bool process_holds(pid_t pid, const struct edit_node *node, size_t nodes, struct budget *budget);

#define NON_NODES_MAX 256

/*
 * The files last seen that are no nodes, by device and inode as in /proc/PID/maps. They need no second step.
 */
struct non_node {
	struct {
		unsigned major, minor;
		unsigned long long inode;
	} file[NON_NODES_MAX];
	size_t n;		/* seen in all, also those replaced since */
};

/*
 * Gets the number of a live thread of the process (PID beneath «proc»). The first thread may have ended, and
 * then shows nothing of what the others have. Returns 1, 0 if there is none, or -1 with errno: EAGAIN if all
 * threads were gone each time before they could be looked at.
 */
int process_thread(int proc, const char *pid, char tid[16]);

/* What is searched for in many processes, one after the other. */
struct node_search {
	int proc;		/* "/proc" */
	const struct edit_node *node;
	size_t nodes;
	bool *held;		/* one for each node */
	bool in_flight;		/* the process keeps descriptors in a socket's queue: what they lead to can't be seen */
	struct budget budget;
	struct non_node non_node;
};

/*
 * Sets s->held[i] for each node that the process has open or mapped, and s->in_flight if it may have any; leaves the
 * other entries. False if that can't be seen, or if s->budget does not suffice.
 */
bool process_find_held(struct node_search *s, const char *pid);

#endif
