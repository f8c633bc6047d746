/* DRM and accel devices as libudev lists them. */
#ifndef GPUHELPER_HOST_UDEV_H
#define GPUHELPER_HOST_UDEV_H

#include <stdbool.h>
#include <stddef.h>

#include "../pure/gpufacts.h"

struct drm_nodes {
	struct drm_node *v;
	size_t n;
};

/* Adds a copy.  False: out of memory. */
bool drm_nodes_add(struct drm_nodes *nodes, const struct drm_node *n);
void drm_nodes_free(struct drm_nodes *nodes);
#define autonodes __attribute__((cleanup(drm_nodes_free)))

/*
 * Adds this host's DRM render nodes and, if asked for, its cards and its accel
 * nodes.  -1 with *why where libudev can't list them; none at all is no error.
 */
int udev_drm_nodes(bool cards, bool accels, struct drm_nodes *out, struct why *why);

/*
 * True if udev's uaccess looks after this character device: with every event it
 * takes all ACL entries of users off the node, and leaves those of groups.
 */
bool udev_flushes_users(uint32_t major, uint32_t minor);

#endif
