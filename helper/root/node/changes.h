/*
 * Makes a lease's changes to device nodes (lease/change.h), makes them again after something reset a node, and undoes
 * them, by the ledger alone (ledger.h). All functions must be called under the lock on the leases. The lease is written
 * before its first change is made.
 */
#ifndef GPUHELPER_ROOT_NODE_CHANGES_H
#define GPUHELPER_ROOT_NODE_CHANGES_H

#include "../../lease/leasefile.h"
#include "../lease/leaselist.h"
#include "../lease/ledger.h"
#include "acl.h"

/* Gets the names of the ACL entries that leases have on a node, but for one entry (NULL: all). */
void changes_acl_names(const struct ledger_node *n, const struct ledger_entry *but, struct acl_names *out);

/* Mode and owner of a new node. */
struct new_node {
	uint32_t mode, uid, gid;
};

/*
 * Makes the nodes of these changes, for this lease. A node that somebody else makes meanwhile stays, and changes_undo()
 * leaves it alone. A node that was made for another lease is removed with the last lease that needs it. -1 with *why:
 * the caller must undo what was done.
 */
int changes_make_nodes(const struct changes *changes, const struct lease *l, const struct new_node *how,
    struct why *why);

/*
 * Sets the ACL entries and labels of these changes, for this lease. -1 with *why: the caller must undo what was done.
 */
int changes_allow(const struct changes *changes, const struct lease *l, struct why *why);

/*
 * Sets the ACL entries and labels that the lease has already where they differ. Tries all; -1 with *why if one failed.
 */
int changes_allow_again(struct lease *l, struct why *why);

/*
 * Undoes the lease's changes, except those that another lease has too. -1 with *why: some could not be undone, and stay
 * in the ledger.
 */
int changes_undo(const struct leases *ls, const struct lease *l, struct why *why);

/* The same, but leaves the nodes that were made: a promise keeps them for later tasks. */
int changes_undo_access(const struct leases *ls, const struct lease *l, struct why *why);

/*
 * The same for a lease that is to get GPUs: an earlier lease of its key, or an earlier task, may have left entries in
 * the ledger. -1 with *why: some are left, so it must get none.
 */
int changes_undo_earlier(const struct leases *ls, const struct lease *l, bool keep_nodes, struct why *why);

/* The same for leases that are gone. Calls tell(ctx, ...) for each entry that is undone. */
typedef void changes_undone(void *ctx, const struct ledger_node *n, const struct ledger_entry *e);
int changes_undo_orphans(const struct leases *ls, changes_undone *tell, void *ctx, struct why *why);

/* Adds a line for each difference between the lease's nodes now and at the grant. False: memory is short. */
bool changes_trouble(const struct lease *l, struct strlist *out);

#endif
