/* Finds the GPUs of this host.  Reads procfs, sysfs and udev; opens no device node. */
#ifndef GPUHELPER_HOST_GPUS_H
#define GPUHELPER_HOST_GPUS_H

#include "../pure/gpu.h"
#include "udev.h"

/* Where to look: the running host is { root = fd of "/", udev = true }. */
struct gpu_source {
	int root;	/* directory whose proc/ and sys/ are read */
	bool udev;	/* ask libudev for DRM and accel nodes; else read sys/class/drm beneath root */
};

/*
 * Fills *inv with the GPUs of the vendors in the mask (1 << enum gpu_vendor).
 * A vendor that is not there is no error: inv->absent says so.  -1 with *why
 * for a host that can't be read.  inventory_free() afterwards in either case.
 */
int gpus_find(const struct gpu_source *src, unsigned vendors, struct inventory *inv, struct why *why);

/* The same of the running host. */
int gpus_of_host(unsigned vendors, struct inventory *inv, struct why *why);

/* All render nodes, cards and accel nodes, of whatever vendor.  -1 with *why; drm_nodes_free() in either case. */
int gpus_drm_nodes(const struct gpu_source *src, struct drm_nodes *out, struct why *why);

#endif
