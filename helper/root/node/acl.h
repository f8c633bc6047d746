/*
 * POSIX ACL entries (acl(5)), above all on a pinned device node. Ours are named entries that allow reading and
 * writing: «user:1000:rw-». They never change another entry, and never give anybody else more access. An entry of an
 * administrator that was there before the lease is kept: device.c, let_in() adds none then. An entry that an
 * administrator sets during the lease, for the same user and «rw», can't be told from ours, and is removed with it.
 */
#ifndef GPUHELPER_ROOT_NODE_ACL_H
#define GPUHELPER_ROOT_NODE_ACL_H

#include "../../base/why.h"
#include "../../host/access.h"
#include "../../lease/leasefile.h"
#include "../../lease/ledgerfile.h"

/* Entries of ours that a node has, or may have: at most one for each lease. */
struct acl_names {
	struct acl_name v[LEASES_MAX];
	size_t n;
};

enum acl_state {
	ACL_IS_ABSENT,		/* there is no such entry */
	ACL_IS_EFFECTIVE,	/* it allows reading and writing */
	ACL_IS_MASKED,		/* it says «rw», but the mask does not allow it (often after a chmod of the node) */
	ACL_IS_OTHER,		/* it allows something else */
};

/*
 * The next three functions take an O_PATH descriptor, and the node's path for messages. To add or remove an entry,
 * the caller must hold the lock on the leases, as for all of changes.h.
 */

/* Gets the entry's state, and the ACL's mask: 0 to 7, or CHANGE_NO_MASK if it has none. -1 with *why. */
int node_acl_get(int fd, const char *path, struct acl_name who, enum acl_state *state, int *mask, struct why *why);

/*
 * Adds the entry, or makes it effective again, and reads it back. «ours»: the entries that live leases have on this
 * node. -1 with *why: also if there is an entry of that name which allows something else, or if raising the mask
 * would give somebody else more access.
 */
int node_acl_add(int fd, const char *path, struct acl_name who, const struct acl_names *ours, struct why *why);

/*
 * Removes the entry if it says «rw», whoever set it. «ours»: our entries that stay. If none stays, restores the mask
 * from before our first entry (CHANGE_NO_MASK: removes it), even if this entry was never there. -1 with *why.
 */
int node_acl_remove(int fd, const char *path, struct acl_name who, const struct acl_names *ours, int mask_before,
    struct why *why);

/*
 * Sets the directory's ACL: root may change and list it, this user may enter it, nobody else has access. fd must
 * not be O_PATH. -1 with *why.
 */
int dir_acl_set(int fd, const char *path, uint32_t uid, struct why *why);

#endif
