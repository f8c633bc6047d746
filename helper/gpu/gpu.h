/*
 * The GPUs of a host: parses the kernel's texts into values, and finds GPUs by the names in policies and
 * requests. Makes no system call: texts come from helper/host/gpu/gpus.c or a fixture. gpufacts.h parses the
 * texts about one GPU.
 */
#ifndef GPUHELPER_GPU_GPU_H
#define GPUHELPER_GPU_GPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../base/text.h"
#include "../base/why.h"
#include "../kernel/devnum.h"

enum gpu_vendor { GPU_NVIDIA, GPU_AMD, GPU_INTEL, GPU_VENDORS };
#define GPUS_ALL ((1U << GPU_VENDORS) - 1)	/* a mask of all vendors */

/* Fixed numbers of character devices: include/uapi/linux/major.h, drm/drm_accel.h, nv-chardev-numbers.h. */
#define NVIDIA_MAJOR 195
#define NVIDIA_MINOR_MAX 247	/* of a GPU's own node; control nodes are above */
#define DRM_MAJOR 226
#define RENDER_MINOR_MIN 128	/* below it are cards */
#define ACCEL_MAJOR 261
#define MINOR_MAX ((1U << 20) - 1)

/* What a container may use a GPU for; a policy's «capabilities». */
enum gpu_capability {
	GPU_CAP_COMPUTE = 1 << 0,
	GPU_CAP_UTILITY = 1 << 1,
	GPU_CAP_GRAPHICS = 1 << 2,
	GPU_CAP_VIDEO = 1 << 3,
	GPU_CAP_DISPLAY = 1 << 4,
	GPU_CAP_NGX = 1 << 5,
	GPU_CAP_COMPAT32 = 1 << 6,
};
#define GPU_CAP_ALL ((1U << 7) - 1)	/* the meaning of "all" (gpu_capability_parse()) */

/*
 * A character device node that a GPU needs. It may not exist in /dev yet. If the driver's module is not
 * loaded, the number is unknown and the major is GPU_NODE_NO_MODULE (only for /dev/nvidia-uvm):
 * gpu_node_check() then refuses a container that needs the node, while others (with the capability «utility»
 * alone) run.
 */
struct gpu_node {
	char path[64];		/* "/dev/nvidia0" */
	uint32_t major, minor;
	unsigned needed_for;	/* capabilities that need it; 0: always needed */
	bool optional;		/* skipped if the node does not exist (uvm-tools, card0) */
	bool read_only;		/* read access suffices (nvidia-caps) */
	bool shared;		/* other parts of the GPU have it, too */
};

/*
 * What joins GPUs (host/gpu/topology.h), closest first: the vendor's links (NVLink, XGMI), a PCI switch, an outer one.
 */
enum gpu_join { GPU_JOIN_LINK, GPU_JOIN_SWITCH, GPU_JOIN_OUTER, GPU_JOINS };

#define GPU_NODES_MAX 18		/* a GPU with seven MIG instances: its own, two of DRM, seven times two */
#define GPU_NODE_NO_MODULE UINT32_MAX

struct gpu {
	enum gpu_vendor vendor;
	unsigned rank;		/* index among its vendor's usable GPUs: «0» in policies */
	char pci[16];		/* "0000:3b:00.0": lower case, more digits for a larger domain */
	unsigned partition;	/* MI300X and the like: several render nodes share a PCI address */
	char part[16];		/* a MIG instance: "GI" or "GI:CI" (pick.h); "": all of the GPU */
	bool has_instances;	/* a whole GPU that is divided into MIG instances: granted only if a policy says so */
	char uuid[48];		/* "GPU-…", AMD's unique_id as "0x…" of 16 digits, "" if unknown */
	char model[64];
	bool integrated;	/* shares the processor's memory: an APU, an Intel iGPU or NPU */
	char unusable[128];	/* why it can't be granted ("excluded by ..."), "" if it can */
	struct gpu_node node[GPU_NODES_MAX];
	size_t nodes;
	/* GPUs of a vendor with the same number, at most INVENTORY_GPUS_MAX, are joined by it; 0: not joined */
	uint32_t joined[GPU_JOINS];
	uint32_t place;		/* its index in gpuhelper-judge's report, where gpuhelper-engine has it */
	struct strlist cdi;	/* its names in CDI specs, "vendor.com/class=name" (host/driver/cdigpus.h) */
};

/* Names of one section of /proc/devices (kernel: fs/proc/devices.c). */
struct devmajor {
	uint32_t major;
	char type;		/* 'c' or 'b' */
	char name[64];		/* the kernel's own limit: a truncated name may be another driver's */
};

struct devmajors {
	struct devmajor *v;
	size_t n;
};

struct inventory {
	struct gpu *gpu;	/* sorted by vendor, PCI address, partition */
	size_t gpus;
	/* nodes that every GPU of the vendor needs as well: nvidiactl, kfd */
	struct gpu_node common[GPU_VENDORS][GPU_NODES_MAX];
	size_t commons[GPU_VENDORS];
	/* WHY_NONE, or why the vendor's GPUs are unknown: then nothing else about the vendor counts */
	struct why fault[GPU_VENDORS];
	/* why the vendor has no usable GPU ("module nvidia is not loaded: ..."), "" if it has one */
	char absent[GPU_VENDORS][128];
	struct devmajors majors;
	/* /proc/driver/nvidia/params, for nodes that nvidia-modprobe would make */
	bool nvidia_modify;	/* ModifyDeviceFiles */
	uint32_t nvidia_uid, nvidia_gid, nvidia_mode;
	/*
	 * nodes from which udev's uaccess removes ACL entries of users at every event, and leaves those of
	 * groups
	 */
	struct devnum *udev_clears;
	size_t udev_clears_n;
	/*
	 * for each kind of CDI spec, the first device that is no GPU of this host, with the reason:
	 * "nvidia.com/gpu=all has nodes of several GPUs"
	 */
	struct strlist cdi_others;
	char nvidia_version[32];	/* of the loaded driver: "580.95.05"; "" if unknown */
	/* CDI specs that can't be used, and the kind of each (cdiproblem.h; host/driver/cdigpus.h looks for them) */
	struct strlist cdi_problem, cdi_problem_kind;
};

const char *gpu_vendor_name(enum gpu_vendor v);			/* "nvidia" */

/* True if a container with these capabilities (GPU_CAP_*) needs the node. */
bool gpu_node_is_needed(const struct gpu_node *n, unsigned capabilities);
/* Refuses a node with the major GPU_NODE_NO_MODULE, naming the module to load. 0, or -1 with *why. */
int gpu_node_check(const struct gpu_node *n, struct why *why);

/*
 * Parses the text of /proc/devices: the sections "Character devices:" and "Block devices:" only, with whole
 * names. Returns 0, or -1 with *why if it is malformed or cut off («510 nvidia» may be the start of «510
 * nvidia-uvm»). devmajors_free() in any case.
 */
int devmajors_parse(const char *text, struct devmajors *out, struct why *why);
void devmajors_free(struct devmajors *m);
/*
 * Gets the major of the character driver with exactly this name. False if there is none or, to be safe, if
 * there are several with different majors.
 */
bool devmajors_char(const struct devmajors *m, const char *name, uint32_t *major);
/*
 * True if character devices of this major are GPUs': the fixed majors (195 nvidia, 226 drm, 261 accel:
 * Documentation/admin-guide/devices.txt), whether or not a driver is loaded, and those that /proc/devices
 * calls nvidia*, drm, kfd, accel or gdrdrv.
 */
bool devmajors_is_gpu(const struct devmajors *m, uint32_t major);

/* Parses /proc/driver/nvidia/params into inv's nvidia_* fields (defaults: modify, 0, 0, 0666). */
void nvidia_params_parse(const char *text, struct inventory *inv);

/*
 * Writes a PCI address in gpuhelper's form; false if it is none. Accepts a domain of 4 to 8 hex digits or
 * none (domain 0, as lspci prints), in either case: "00000000:3B:00.0" and "3b:00.0" become "0000:3b:00.0".
 */
bool pci_address_normalise(const char *s, char out[16]);
/* Converts such an address to a number that sorts like it: domain, bus, device, function. False if it is none. */
bool pci_address_parse(const char *s, uint64_t *out);
/* Writes the address of domain << 16 | bus << 8 | device << 3 | function. */
void pci_address_print(uint64_t pci, char out[16]);

/*
 * Gets the part of its physical GPU that an entry is, as pick.h writes parts. An AMD partition's number if the
 * inventory has several entries with its PCI address, usable or not; otherwise "", the whole.
 */
void gpu_part(const struct inventory *inv, const struct gpu *g, char out[16]);
bool inventory_udev_clears(const struct inventory *inv, uint32_t major, uint32_t minor);
void inventory_free(struct inventory *inv);

#endif
