/*
 * The acts of a lease (struct act): changes to nodes of the host, for its container. These functions do acts, do them
 * again after something reset a node, and undo them. All are called under the lock on the leases. Each act is written
 * into the lease before it is done.
 */
#ifndef GPUHELPER_ROOT_NODE_ACTS_H
#define GPUHELPER_ROOT_NODE_ACTS_H

#include "../lease/leaselist.h"
#include "acl.h"

/*
 * Call the first two after leases_read() for the leases with acts on the node. acts_make_nodes(), acts_allow() and
 * acts_undo() read these leases themselves.
 */

/*
 * Gets the ACL entries that leases other than l have on the node of an act. If there are any, *mask gets the ACL's
 * mask before the first of them.
 */
void acts_of_others(const struct leases *ls, const struct lease *l, const struct act *node, struct acl_names *out,
    int *mask);

/* Finds the same act of another lease. NULL: there is none. */
const struct act *acts_shared(const struct leases *ls, const struct lease *l, const struct act *a);

/* Mode and owner of a new node. */
struct new_node {
	uint32_t mode, uid, gid;
};

/*
 * Makes the nodes of l's acts. A node that somebody else makes meanwhile stays, and acts_undo() leaves it alone. A
 * node that was made for another lease is removed with the last lease that needs it. -1 with *why: the caller must
 * undo what was done.
 */
int acts_make_nodes(struct leases *ls, struct lease *l, const struct new_node *how, struct why *why);

/* Sets l's ACL entries and labels where they differ. Tries all of them; -1 with *why if one failed. */
int acts_allow(struct leases *ls, const struct lease *l, struct why *why);

/*
 * Undoes l's acts, except those that another lease has too, and removes them from *l. -1 with *why: some could not be
 * undone, and stay in *l.
 */
int acts_undo(struct leases *ls, struct lease *l, struct why *why);

/* The same, but leaves the nodes that were made: a promise keeps them for later tasks. */
int acts_undo_access(struct leases *ls, struct lease *l, struct why *why);

/* Adds a line for each difference between l's nodes now and at the grant. False: memory is short. */
bool acts_trouble(const struct lease *l, struct strlist *out);

#endif
