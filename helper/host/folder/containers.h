/* The mounts of all containers that run. */
#ifndef GPUHELPER_HOST_FOLDER_CONTAINERS_H
#define GPUHELPER_HOST_FOLDER_CONTAINERS_H

#include <stddef.h>
#include <stdint.h>

#include "mounts.h"

/* A mount namespace, of a container's processes or of the host's. */
struct mount_ns {
	uint64_t inode;
	char top[40];		/* PID/task/TID of a thread that sees all of it; "": none was found */
};
struct mount_ns_list {
	struct mount_ns *v;
	size_t n;
};
void mount_ns_list_free(struct mount_ns_list *s);

/*
 * Shows «test» every mount that a thread of any container (hostprocess.h) reaches from its root directory, until the
 * test is true. Returns true then, and also where something can't be seen. That includes a namespace of which
 * every process seen is chrooted, because a process may leave its chroot.
 * Passes over processes that this process may not look at: for an unprivileged user, those of other users.
 * *all, unless NULL, gets the mount namespaces; the caller frees it in any case. It is complete where the
 * result is false.
 */
bool containers_mount_any(mount_test *test, void *ctx, struct mount_ns_list *all);

#endif
