/*
 * Whether the kernel would let a container's process access an inode of the host. Computed, not tried: no
 * access happens.
 */
#ifndef GPUHELPER_HOST_ACCESS_H
#define GPUHELPER_HOST_ACCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "../ask/request.h"
#include "../kernel/idmap.h"

/* A container's process, in ids of the host. */
struct subject {
	bool mapped;			/* its uid and gid exist on the host */
	uint32_t uid, gid;
	uint32_t group[REQUEST_GIDS_MAX + 1];
	size_t groups;
	bool dac_override;		/* its capabilities override mode and ACL where its namespace maps the inode */
	const struct idmap *uidmap, *gidmap;
};

/*
 * Fills *s with the process of the request. «uidmap» and «gidmap» map the container's ids to the host's; *s keeps
 * these pointers.
 */
void subject_of(const struct request *r, const struct idmap *uidmap, const struct idmap *gidmap, struct subject *s);

/* True if the subject's capabilities allow it anything on an inode with this owner and group. */
bool access_overrides(const struct stat *st, const struct subject *s);

/* A named entry of an ACL. */
struct acl_name {
	bool group;
	uint32_t id;		/* uid or gid */
};

/* True if the entry is one of these n. */
bool acl_name_among(const struct acl_name *v, size_t n, struct acl_name who);

/*
 * True if mode and POSIX ACL (acl(5)) without these entries allow the subject «want» (R_OK, W_OK, X_OK) on the inode
 * behind the descriptor (O_PATH is enough). False as well if they can't be read.
 */
bool access_ignoring(int fd, const struct subject *s, int want, const struct acl_name *entry, size_t entries);

/*
 * What the inode's owning group may do (R_OK, W_OK, X_OK), or -1 if that can't be read. The mode alone does not show
 * that: if the inode has an ACL, the mode's group bits are the ACL's mask.
 */
int access_of_group(int fd);

#endif
