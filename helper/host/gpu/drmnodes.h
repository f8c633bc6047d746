/* A host's DRM and accel nodes, and where they are looked up. */
#ifndef GPUHELPER_HOST_GPU_DRMNODES_H
#define GPUHELPER_HOST_GPU_DRMNODES_H

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

/* Where a program looks up the nodes of its host: udev.h or nodrm.h. */
struct drm_source {
	/*
	 * Adds the host's render nodes and, if asked for, cards and accel nodes. Finding none is no error. 0, or -1 with *why
	 * if they can't be listed.
	 */
	int (*list)(bool cards, bool accels, struct drm_nodes *out, struct why *why);
	/*
	 * True if udev's uaccess handles this character device: at every event it then removes ACL entries of users
	 * from the node, and leaves those of groups.
	 */
	bool (*clears_users)(uint32_t major, uint32_t minor);
};

/*
 * True if the kernel has a device of this number. Most of NVIDIA's nodes have none, and udev does not know what is no
 * device. True also if the kernel does not say.
 */
bool char_device_exists(uint32_t major, uint32_t minor);

#endif
