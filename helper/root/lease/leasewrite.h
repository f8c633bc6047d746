/* Writes leases, within what each user may have. */
#ifndef GPUHELPER_ROOT_LEASE_LEASEWRITE_H
#define GPUHELPER_ROOT_LEASE_LEASEWRITE_H

#include "leaselist.h"

/*
 * Checks that the lease may be added. -1 with *why: its container already has a lease, or its user, or all users,
 * would have too many leases or bytes.
 */
int leases_may_add(const struct leases *ls, const struct lease *l, struct why *why);
/*
 * Writes a new lease after leases_may_add(), or an existing one anew. Does not add it to ls->v. The first call sets
 * l->name. -1 with *why: also if the lease now does more than its name says.
 */
int leases_write(const struct leases *ls, struct lease *l, struct why *why);
/*
 * The same for a lease that has grown since leases_may_add() (nodes, changes, the container's cgroup). -1 with *why:
 * also (WHY_AGAIN) if its user may not have so many bytes; the file then stays as it was.
 */
int leases_write_grown(const struct leases *ls, struct lease *l, struct why *why);

#endif
