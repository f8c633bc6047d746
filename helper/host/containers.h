/* The mounts of containers, of whichever there are. */
#ifndef GPUHELPER_HOST_CONTAINERS_H
#define GPUHELPER_HOST_CONTAINERS_H

#include <stddef.h>
#include <stdint.h>

#include "mounts.h"

/* A mount namespace, of containers' processes or the host's. */
struct mount_space {
	uint64_t inode;
	char top[40];		/* PID/task/TID of who sees all of it; "": nobody who was seen does */
};
struct mount_spaces {
	struct mount_space *v;
	size_t n;
};
void mount_spaces_free(struct mount_spaces *s);

/*
 * Shows the test every mount that a thread of a container (home.h) reaches from its
 * root directory, until the test is true.  True then, and where something can't be
 * seen: so where all of a namespace's processes that were seen are chrooted, for one
 * may leave that.  Processes that this one has no right to look at are passed over: for
 * a user, those of others.  *all, unless NULL, is to be freed; it is complete where false.
 */
bool containers_mount_any(mount_test *test, void *ctx, struct mount_spaces *all);

#endif
