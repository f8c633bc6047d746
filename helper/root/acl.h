/*
 * POSIX ACL entries (acl(5)), on a pinned device node above all: ours are named ones that
 * allow reading and writing, «user:1000:rw-».  What an administrator set is not
 * changed, and no one else comes to have more than he had.
 */
#ifndef GPUHELPER_ROOT_ACL_H
#define GPUHELPER_ROOT_ACL_H

#include "../host/access.h"
#include "../pure/leasefile.h"
#include "../pure/why.h"

/* Entries of ours that a node has, or may have: one a lease, at most. */
struct acl_names {
	struct acl_name v[LEASES_MAX];
	size_t n;
};

enum acl_state {
	ACL_IS_ABSENT,		/* there is no such entry */
	ACL_IS_EFFECTIVE,	/* reading and writing */
	ACL_IS_MASKED,		/* the mask (a chmod of the node, often) takes it away */
	ACL_IS_OTHER,		/* there is one, and it says something else */
};

/*
 * The next three take an O_PATH descriptor, and the node's path for messages.  Who
 * adds or removes holds the leases' lock, as all that is in acts.h does.
 */

/* What the entry is now; *mask gets the ACL's mask (0 to 7), ACT_NO_MASK where there is none.  -1 with *why. */
int node_acl_look(int fd, const char *path, struct acl_name who, enum acl_state *state, int *mask, struct why *why);

/*
 * Adds the entry, or makes it effective again, and reads it back.  «ours»: the
 * entries that live leases have on this node.  Refused where an entry of that
 * name says something else, or where the mask would have to be raised for
 * someone else too.
 */
int node_acl_add(int fd, const char *path, struct acl_name who, const struct acl_names *ours, struct why *why);

/*
 * Takes the entry off, if it is as we set it.  «ours»: those that stay; with
 * the last of them the mask becomes what it was (mask_before; ACT_NO_MASK:
 * none), also where this one was never there.
 */
int node_acl_remove(int fd, const char *path, struct acl_name who, const struct acl_names *ours, int mask_before,
    struct why *why);

/*
 * Makes a directory of ours (not O_PATH) one that root may change and list, this user enter, and nobody else do
 * anything with.
 */
int dir_acl_set(int fd, const char *path, uint32_t uid, struct why *why);

#endif
