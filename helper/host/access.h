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

void subject_of(const struct request *r, struct subject *s);

/*
 * True if the subject may do «want» (of R_OK, W_OK, X_OK) to what the O_PATH
 * descriptor is open on, by mode and POSIX ACL (acl(5)).
 */
bool access_allowed(int fd, const struct subject *s, int want);

#endif
