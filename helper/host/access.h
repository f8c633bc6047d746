/* Would the kernel let a container's process do this to an inode of the host?  Computed, not tried. */
#ifndef GPUHELPER_HOST_ACCESS_H
#define GPUHELPER_HOST_ACCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "../pure/idmap.h"
#include "../pure/request.h"

/* A container's process, in ids of the host. */
struct subject {
	bool mapped;			/* its uid and gid stand for something on the host */
	uint32_t uid, gid;
	uint32_t gid_list[REQUEST_GIDS_MAX + 1];
	size_t gids;
	bool dac_override;		/* may pass mode and ACL where its namespace maps the inode's owner and group */
	const struct idmap *uids, *gidmap;
};

/* The request's process, by maps of its container's ids to the host's, which *s goes on pointing to. */
void subject_of(const struct request *r, const struct idmap *uids, const struct idmap *gids, struct subject *s);

/*
 * True if the subject may do «want» (of R_OK, W_OK, X_OK) to what the O_PATH
 * descriptor is open on, by mode and POSIX ACL (acl(5)).
 */
bool access_allowed(int fd, const struct subject *s, int want);

/* A named entry of an ACL. */
struct acl_name {
	bool group;
	uint32_t id;		/* uid or gid */
};

/* True if it is one of these. */
bool acl_name_among(const struct acl_name *v, size_t n, struct acl_name who);

/* access_allowed(), as though the ACL had not these entries. */
bool access_without(int fd, const struct subject *s, int want, const struct acl_name *entry, size_t entries);

/*
 * What the inode's owning group may do (R_OK, W_OK, X_OK); -1 where that can't be
 * read.  The mode does not say: where there is an ACL, its group bits are the
 * ACL's mask.
 */
int access_of_group(int fd);

#endif
