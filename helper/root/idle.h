/*
 * Containers whose task is over and which stay (pausing.h): their GPUs are taken
 * back.  In two steps, for ending a container's access to its nodes takes rights
 * that the helper does not keep: a lease is marked, root's wrapper is told what to
 * do (chore.h), and what it did is looked at before the lease ends.  Under the lock
 * of the leases, but for nothing that anyone could hold up.
 */
#ifndef GPUHELPER_ROOT_IDLE_H
#define GPUHELPER_ROOT_IDLE_H

#include "../pure/request.h"
#include "leaselist.h"
#include "queue.h"

struct idle {
	const struct peer *peer;
	const struct request *request;
	struct leases *leases;
	struct chores *chores;		/* gets what the peer is to do */
	int audit;
};

/*
 * Ends the leases whose containers the peer says it has shut out, where that is
 * so and nobody came back meanwhile.  Of those that were given back before, and had
 * GPUs which are wanted (NULL: all), it sees whether that still holds
 * (lease.reopened).  -1 with *why: no memory.
 */
int idle_finish(const struct idle *i, const struct waiter *wants, struct why *why);

/*
 * Begins to take back GPUs that are wanted (NULL: all) of containers that are
 * idle.  *soon gets whether some of them are being given back, by whomever.  -1
 * with *why: a mark could not be written.
 */
int idle_begin(const struct idle *i, const struct waiter *wants, bool *soon, struct why *why);

/* A chore for this lease's container, to be done «by» that process (chore.h).  False: no memory. */
bool idle_add_chore(struct chores *c, enum chore_kind kind, const struct lease *l, struct process_id by);

/* How idle the container of a lease with «pauses» is, now. */
enum idleness idle_judge(const struct lease *l);

#endif
