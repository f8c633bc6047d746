/*
 * Takes GPUs back from containers whose task is over, and which stay (pausing.h).  It takes two requests, since
 * ending a container's access to its nodes needs rights that the helper does not keep: the first marks the lease, and
 * tells root's wrapper what to do (chore.h); the second sees whether that was done, and ends the lease.  All under
 * the lock of the leases, and without anything that a user could hold up.
 */
#ifndef GPUHELPER_ROOT_IDLE_H
#define GPUHELPER_ROOT_IDLE_H

#include "call.h"
#include "leaselist.h"
#include "queue.h"

struct idle {
	const struct call *call;
	struct leases *leases;
	struct chores *chores;		/* gets what the peer is to do */
};

/*
 * Ends the leases whose containers the peer says it has shut out, where that is so and nobody came back meanwhile. 
 * Also sees whether the containers that had given back GPUs which are wanted (NULL: any GPUs) are still shut out
 * (lease.reopened).  -1 with *why: no memory.
 */
int idle_finish(const struct idle *i, const struct waiter *wants, struct why *why);

/*
 * Begins to take the GPUs that are wanted (NULL: any) back from idle containers.  *soon: some of them are being given
 * back already, by this request or another.  -1 with *why: a mark could not be written.
 */
int idle_begin(const struct idle *i, const struct waiter *wants, bool *soon, struct why *why);

/* Adds a chore for this lease's container, to be done by the process «by» (chore.h).  False: no memory. */
bool idle_add_chore(struct chores *c, enum chore_kind kind, const struct lease *l, struct process_id by);

/* How idle a container is now; its lease has «pauses». */
enum idleness idle_judge(const struct lease *l);

#endif
