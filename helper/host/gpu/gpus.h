/* Finds the GPUs of this host in procfs, sysfs and udev. Must never open a device node. */
#ifndef GPUHELPER_HOST_GPU_GPUS_H
#define GPUHELPER_HOST_GPU_GPUS_H

#include "../../gpu/gpu.h"
#include "drmnodes.h"

/* PCI's numbers of the vendors (pci.ids). */
#define VENDOR_AMD 0x1002
#define VENDOR_NVIDIA 0x10de
#define VENDOR_INTEL 0x8086

/* Where to look. For the running host, use { root = fd of "/", drm = &udev_drm or &no_drm }. */
struct gpu_source {
	int root;	/* directory whose proc/ and sys/ are read */
	const struct drm_source *drm;	/* lists DRM and accel nodes; NULL: read sys/class/drm beneath root */
};

/*
 * Fills *inv with the GPUs of the vendors in the mask (1 << enum gpu_vendor). A missing vendor is no error:
 * inv->absent says why it is missing. Returns 0, or -1 with *why if the host can't be read. The caller calls
 * inventory_free() in any case.
 */
int gpus_find(const struct gpu_source *src, unsigned vendors, struct inventory *inv, struct why *why);

/* The same for the running host. */
int gpus_here(const struct drm_source *drm, unsigned vendors, struct inventory *inv, struct why *why);

/*
 * Finds all render nodes, cards and accel nodes, of any vendor. 0, or -1 with *why; drm_nodes_free() in any
 * case.
 */
int gpus_drm_nodes(const struct gpu_source *src, struct drm_nodes *out, struct why *why);

#endif
