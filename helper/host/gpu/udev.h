/* DRM and accel devices, as libudev lists them. */
#ifndef GPUHELPER_HOST_GPU_UDEV_H
#define GPUHELPER_HOST_GPU_UDEV_H

#include <stdbool.h>
#include <stddef.h>

#include "../../gpu/gpufacts.h"

struct drm_nodes {
	struct drm_node *v;
	size_t n;
};

/* Adds a copy. False if memory is short. */
bool drm_nodes_add(struct drm_nodes *nodes, const struct drm_node *n);
void drm_nodes_free(struct drm_nodes *nodes);
#define autonodes __attribute__((cleanup(drm_nodes_free)))

/*
 * Adds this host's DRM render nodes and, if asked for, cards and accel nodes. Finding none is no error. 0, or
 * -1 with *why if libudev can't list them.
 */
int udev_drm_nodes(bool cards, bool accels, struct drm_nodes *out, struct why *why);

/*
 * True if udev's uaccess handles this character device: at every event it then removes ACL entries of users
 * from the node, and leaves those of groups.
 */
bool udev_flushes_users(uint32_t major, uint32_t minor);

#endif
