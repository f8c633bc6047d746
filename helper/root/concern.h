/* Which leases have to be read (struct concern, leaselist.h) for a grant to be planned under the lock. */
#ifndef GPUHELPER_ROOT_CONCERN_H
#define GPUHELPER_ROOT_CONCERN_H

#include "plan.h"

/*
 * Before GPUs are picked.  Reads the container's own lease, those of the GPUs that it could get, and those of the GPUs
 * that anyone who waits before it could get, for what they get is not left for this one; with «admits», also those that
 * its folders and its label are compared with.  Ends the ones that are over.  -1 with *why.
 */
int concern_look(const struct plan *p, struct leases *ls, const struct queue *q, bool admits, struct why *why);

/* Once they are picked: reads the leases that have acts on a node which the container needs.  -1 with *why. */
int concern_read_nodes(const struct plan *p, struct leases *ls, struct why *why);

#endif
