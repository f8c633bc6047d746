/* Gives the container access to its nodes, after the lease and the audit log say so. */
#ifndef GPUHELPER_ROOT_GRANT_GIVEACCESS_H
#define GPUHELPER_ROOT_GRANT_GIVEACCESS_H

#include "plan.h"

/*
 * Under a later lock than the one under which the lease was written: checks that the lease is still as planned.
 * -1 with *why: another helper found it over and ended it, and another container may have its GPU by now.
 */
int check_planned(const struct lease *planned, struct leases *ls, struct why *why);

/*
 * Writes what execs into the container need (execrecord.h). -1 with *why: also if the process that asked has ended by
 * then; the record is then removed.
 */
int record_for_execs(const struct plan *p, struct why *why);

/*
 * Takes the lock, and does the lease's changes: makes missing nodes, and gives the container access. If that adds a
 * group, writes the exec record again. -1 with *why: the caller must take the grant back.
 */
int give_access(struct plan *p, struct why *why);

/* The same with the lock held, and without check_planned(). */
int give_planned_access(struct plan *p, struct leases *ls, struct why *why);

#endif
