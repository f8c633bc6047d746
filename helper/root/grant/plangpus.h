/* The part of a plan (plan.h) that depends on which GPUs were picked. Called under the lock on the leases. */
#ifndef GPUHELPER_ROOT_GRANT_PLANGPUS_H
#define GPUHELPER_ROOT_GRANT_PLANGPUS_H

#include "plan.h"

/*
 * Has gpuhelper-engine say which driver's files and variables go into the edits, and which extra nodes are given. -1
 * with *why; WHY_AGAIN: it was late.
 */
int plan_driver_files(struct plan *p, struct why *why);

/*
 * After plan_driver_files(): plans the rest. The lookup paths of these files go into the lease, which the caller
 * writes, and the changes to nodes into p->changes. -1 with *why.
 */
int plan_gpus(struct plan *p, struct leases *ls, struct why *why);

/* A part of that, for a container that gets GPUs again: finds the nodes that only CDI specs name. -1 with *why. */
int plan_extra_nodes(struct plan *p, struct why *why);
/* Another part: plans the changes to the nodes, and adds the nodes to the edits. The caller writes the lease. */
int plan_nodes(struct plan *p, struct leases *ls, struct why *why);

/* As plan_nodes(), after the missing nodes were made, since they can be checked only then. -1 with *why. */
int plan_made_nodes(struct plan *p, struct why *why);

#endif
