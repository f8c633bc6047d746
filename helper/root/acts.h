/*
 * The acts of a lease (struct act): what is done to nodes of the host for its container.  They are done, done again
 * after something reset a node, and undone; always under the lock of the leases, and each is written into the lease
 * before it is done.
 */
#ifndef GPUHELPER_ROOT_ACTS_H
#define GPUHELPER_ROOT_ACTS_H

#include "acl.h"
#include "leaselist.h"

/* The first two need the leases that have acts on the node to have been read (leases_read()); the others read them. */

/* The ACL entries that other leases than "l" have on the node of an act; *mask: as it was before the first of them. */
void acts_of_others(const struct leases *ls, const struct lease *l, const struct act *node, struct acl_names *out,
    int *mask);

/* The same act of another lease; NULL: there is none. */
const struct act *acts_shared(const struct leases *ls, const struct lease *l, const struct act *a);

/* The mode and owner that a new node gets. */
struct birth {
	uint32_t mode, uid, gid;
};

/*
 * Makes the nodes of l's acts.  A node that somebody else makes meanwhile is left alone, also by acts_undo(); one that
 * was made for another lease is removed with the last lease that needs it.  -1 with *why: what was done is to be
 * undone.
 */
int acts_make_nodes(struct leases *ls, struct lease *l, const struct birth *how, struct why *why);

/* Sets those of l's ACL entries and labels that are not as they should be.  -1 with *why, after all were tried. */
int acts_allow(struct leases *ls, const struct lease *l, struct why *why);

/*
 * Undoes l's acts, except those that another lease has too, and removes them from *l.  -1 with *why: some could not be
 * undone, and stay in *l.
 */
int acts_undo(struct leases *ls, struct lease *l, struct why *why);

/* Adds a line for whatever about l's nodes is not as it was granted.  False: no memory. */
bool acts_trouble(const struct lease *l, struct strlist *out);

#endif
