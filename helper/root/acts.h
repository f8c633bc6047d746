/*
 * What is done to the host for a lease (struct act): planned, done, done again
 * after something reset a node, undone.  All of it under the lock of the leases,
 * and written into the lease before it is done.
 */
#ifndef GPUHELPER_ROOT_ACTS_H
#define GPUHELPER_ROOT_ACTS_H

#include "acl.h"
#include "leaselist.h"

/*
 * The two that only look take it that the leases with acts on that node were read
 * (leases_read()); the others read them.
 */

/* The entries that leases other than «l» have on the node of an act; *mask as before the first of them. */
void acts_of_others(const struct leases *ls, const struct lease *l, const struct act *node, struct acl_names *out,
    int *mask);

/* An act of another lease that is the same; NULL if there is none. */
const struct act *acts_shared(const struct leases *ls, const struct lease *l, const struct act *a);

/* How a node is born. */
struct birth {
	uint32_t mode, uid, gid;
};

/*
 * Makes the nodes of l's acts.  One that someone else makes meanwhile is left
 * alone, by acts_undo() too; one that was made for another lease goes with the last
 * of them.  -1 with *why; what was done is to be undone.
 */
int acts_make_nodes(struct leases *ls, struct lease *l, const struct birth *how, struct why *why);

/* Sets l's ACL entries and labels, each if it is not there as it should be.  -1 with *why. */
int acts_allow(struct leases *ls, const struct lease *l, struct why *why);

/*
 * Undoes l's acts, but for what another lease has done too, and takes them out
 * of *l.  -1 with *why where something could not be undone: that stays in *l.
 */
int acts_undo(struct leases *ls, struct lease *l, struct why *why);

/* What of l's nodes is no more as it was granted, a line each. */
bool acts_trouble(const struct lease *l, struct strlist *out);

#endif
