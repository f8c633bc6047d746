/* Which leases are read (struct lease_query, leaselist.h) to plan a grant under the lock. */
#ifndef GPUHELPER_ROOT_GRANT_LEASESFOR_H
#define GPUHELPER_ROOT_GRANT_LEASESFOR_H

#include "plan.h"

/*
 * Before the GPUs are picked: reads the container's own lease, those of the GPUs that it could get, and those of the
 * GPUs that earlier requests could get, because those GPUs are not available. With «new_lease», also reads the leases
 * that its folders and its label are compared with; and all leases if a policy limits how many GPUs its containers
 * hold. «me» is the request, as it is to be in the queue. Only reads: the caller, who holds the lock of *ls and closes
 * it, ends those that are over (leases_reap()). -1 with *why.
 */
int leases_for_request(const struct plan *p, struct leases *ls, const struct queue *q, const struct queued *me,
    bool new_lease, struct why *why);

/* After the GPUs are picked: reads the leases with changes to the nodes that the container needs. -1 with *why. */
int leases_for_nodes(const struct plan *p, struct leases *ls, struct why *why);

#endif
