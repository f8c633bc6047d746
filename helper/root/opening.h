/* Opens what a plan says to the container, once that is written down as a lease and in the audit log. */
#ifndef GPUHELPER_ROOT_OPENING_H
#define GPUHELPER_ROOT_OPENING_H

#include "plan.h"

/*
 * Under the lock, later than the one under which the lease was written: is the lease still there as it was planned?
 * -1 with *why: someone found it over meanwhile and ended it, and its GPU may be another container's by now.
 */
int check_planned(const struct lease *planned, struct leases *ls, struct why *why);

/*
 * Does the lease's acts: makes the missing nodes, and lets the container in.  -1 with *why: the grant is to be taken
 * back.
 */
int open_nodes(struct plan *p, struct why *why);

/* The same under the lock already, and without check_planned(). */
int open_planned(struct plan *p, struct leases *ls, struct why *why);

#endif
