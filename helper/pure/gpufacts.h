/*
 * What one GPU is, by the kernel's texts and by what udev says of its nodes.  No system calls: the text comes from
 * helper/host/gpus.c, or from a fixture.
 */
#ifndef GPUHELPER_PURE_GPUFACTS_H
#define GPUHELPER_PURE_GPUFACTS_H

#include "gpu.h"

/*
 * /proc/driver/nvidia/gpus/ADDRESS/information (open-gpu-kernel-modules,
 * nv-procfs.c): model, UUID (unknown where absent or full of '?'), the device
 * minor (returned in *minor), excluded.  «address» is the directory's name and
 * must agree with "Bus Location".  -1 where no minor can be read; *out then has
 * the vendor and, if «address» is one, the PCI address, and is no usable GPU.
 */
int nvidia_information_parse(const char *address, const char *text, struct gpu *out,
    uint32_t *minor, struct why *why);
/* One node of the kfd topology, .../kfd/topology/nodes/N (kernel: amdkfd/kfd_topology.c). */
struct kfd_node {
	uint64_t gpu_id, simd_count, cpu_cores_count, vendor_id, location_id, domain;
	uint64_t unique_id, gfx_target_version;
	int64_t drm_render_minor;
};
int kfd_node_parse(const char *gpu_id_text, const char *properties_text, struct kfd_node *out,
    struct why *why);
/* True if the topology node is an AMD GPU with a render node (a CPU is not). */
bool kfd_node_is_gpu(const struct kfd_node *k);
/* Its PCI address; false if the numbers are none. */
bool kfd_node_address(const struct kfd_node *k, char out[16]);
/* True if it shares the processor's memory: see the list of instruction sets in gpu.c. */
bool kfd_node_integrated(const struct kfd_node *k);
/* "gfx90a" */
void kfd_node_model(const struct kfd_node *k, char *out, size_t size);

enum drm_kind { DRM_RENDER, DRM_CARD, DRM_ACCEL };

/* What udev or sysfs says of a device of the subsystem drm or accel; NULL where it says nothing. */
struct drm_facts {
	const char *name;		/* "renderD128", "card0", "accel0" */
	const char *devnode;		/* "/dev/dri/renderD128" */
	uint32_t major, minor;
	const char *bus, *parent;	/* the parent device: "pci" and "0000:03:00.0" */
	const char *driver;		/* of a PCI parent: "amdgpu" */
	const char *vendor, *device, *class;	/* likewise: "0x1002", "0x740f", "0x038000" */
};

/* A DRM render or card node (major 226), or the accel node (261) of an NPU. */
struct drm_node {
	enum drm_kind kind;
	uint32_t major, minor;
	char path[64];			/* "/dev/dri/renderD128" */
	char pci[16];			/* of its PCI parent, "" if it has none */
	uint32_t vendor, device, class;	/* of its PCI parent: 0x1002, …, 0x030000 */
	char driver[32];		/* "amdgpu", "i915", "xe"; "amdgpu_xcp": no PCI parent */
	bool flushed;			/* as in struct inventory; drm_node_make() does not know */
};

/* False for what is no such node, or whose name, number and path do not fit each other. */
bool drm_node_make(const struct drm_facts *f, struct drm_node *out);

#endif
