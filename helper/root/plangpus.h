/* The part of a plan (plan.h) that follows from which GPUs were picked.  Under the lock of the leases. */
#ifndef GPUHELPER_ROOT_PLANGPUS_H
#define GPUHELPER_ROOT_PLANGPUS_H

#include "plan.h"

/*
 * All of it: the driver's files and variables go into the edits, the ways to these files and what has to be done to the
 * nodes into the lease, which is written; nothing is done yet.  -1 with *why: the lease is to be removed.
 */
int plan_gpus(struct plan *p, struct leases *ls, struct why *why);

/* Two parts of that, for a container that gets GPUs again: finds the nodes that only CDI specs name; -1 with *why. */
int plan_further_nodes(struct plan *p, struct why *why);
/* Plans what has to be done to the nodes, adds these to the edits, and writes the lease.  -1 with *why. */
int plan_nodes(struct plan *p, struct leases *ls, struct why *why);

/* The same once the missing nodes were made, which can be looked at only then.  -1 with *why. */
int plan_made_nodes(struct plan *p, struct leases *ls, struct why *why);

#endif
