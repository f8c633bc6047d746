/*
 * Parses the texts of the kernel and of udev about one GPU. Makes no system call: texts come from
 * helper/host/gpu/gpus.c or a fixture.
 */
#ifndef GPUHELPER_GPU_GPUFACTS_H
#define GPUHELPER_GPU_GPUFACTS_H

#include "gpu.h"

/*
 * Parses /proc/driver/nvidia/gpus/ADDRESS/information (open-gpu-kernel-modules, nv-procfs.c): model, UUID
 * (unknown if absent or full of '?'), minor number (*minor), excluded. «address» is the directory's name,
 * which must agree with "Bus Location". Returns 0, or -1 with *why if there is no readable minor; *out then
 * has the vendor and, if valid, the PCI address, and is not usable.
 */
int nvidia_information_parse(const char *address, const char *text, struct gpu *out,
    uint32_t *minor, struct why *why);
/* One node of the kfd topology, .../kfd/topology/nodes/N (kernel: amdkfd/kfd_topology.c). */
struct kfd_node {
	uint64_t gpu_id, simd_count, cpu_cores_count, vendor_id, location_id, domain;
	uint64_t unique_id, gfx_target_version, hive_id;
	int64_t drm_render_minor;
};
int kfd_node_parse(const char *gpu_id_text, const char *properties_text, struct kfd_node *out,
    struct why *why);
/* True if the topology node is an AMD GPU with a render node (a CPU is not). */
bool kfd_node_is_gpu(const struct kfd_node *k);
/* Gets the PCI address. False if the numbers are no address. */
bool kfd_node_address(const struct kfd_node *k, char out[16]);
/* True if it shares the processor's memory: see the list of instruction sets in gpufacts.c. */
bool kfd_node_integrated(const struct kfd_node *k);
/* Writes the model: "gfx90a". */
void kfd_node_model(const struct kfd_node *k, char *out, size_t size);

enum drm_kind { DRM_RENDER, DRM_CARD, DRM_ACCEL };

/* What udev or sysfs says about a device of the subsystem drm or accel; NULL for what is unknown. */
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
	bool udev_clears;			/* as in struct inventory; drm_node_make() does not know */
};

/*
 * Makes *out of these facts. False for another kind of device, or if name, number and path contradict each
 * other.
 */
bool drm_node_make(const struct drm_facts *f, struct drm_node *out);

/* How the driver writes a UUID (kernel/hexform.h). */
#define NVIDIA_UUID_FORM "GPU-hhhhhhhh-hhhh-hhhh-hhhh-hhhhhhhhhhhh"

#endif
