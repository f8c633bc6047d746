/*
 * What a host's GPUs are: the kernel's texts read into values, and GPUs found
 * by the names that policies and requests use.  No system calls: the text comes
 * from helper/host/gpus.c, or from a fixture.  What one GPU is by the kernel's texts: gpufacts.h.
 */
#ifndef GPUHELPER_PURE_GPU_H
#define GPUHELPER_PURE_GPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "devnum.h"
#include "text.h"
#include "why.h"

enum gpu_vendor { GPU_NVIDIA, GPU_AMD, GPU_INTEL, GPU_VENDORS };
#define GPUS_ALL ((1U << GPU_VENDORS) - 1)	/* a mask of all vendors */

/* Numbers of character devices that never change: include/uapi/linux/major.h, drm/drm_accel.h, nv-chardev-numbers.h. */
#define NVIDIA_MAJOR 195
#define NVIDIA_MINOR_MAX 247	/* of a GPU's own node: above it are control nodes */
#define DRM_MAJOR 226
#define RENDER_MINOR_MIN 128	/* below it are cards */
#define ACCEL_MAJOR 261
#define MINOR_MAX ((1U << 20) - 1)

/* How the driver writes a UUID (kerneltext.h, has_hex_form()). */
#define NVIDIA_UUID_FORM "GPU-hhhhhhhh-hhhh-hhhh-hhhh-hhhhhhhhhhhh"

/* What a container may want of a GPU; a policy's «capabilities». */
enum gpu_capability {
	GPU_CAP_COMPUTE = 1 << 0,
	GPU_CAP_UTILITY = 1 << 1,
	GPU_CAP_GRAPHICS = 1 << 2,
	GPU_CAP_VIDEO = 1 << 3,
	GPU_CAP_DISPLAY = 1 << 4,
	GPU_CAP_NGX = 1 << 5,
	GPU_CAP_COMPAT32 = 1 << 6,
};

/*
 * A character device node that a GPU needs, as it has to be; nobody has looked
 * at /dev yet.  A node whose driver's module is not loaded has no number: it is
 * in the list with the major GPU_NODE_NO_MODULE (only ever /dev/nvidia-uvm), so
 * that whoever needs it is refused, by gpu_node_check(), and whoever does not
 * (a container of the capability «utility» alone) is served.
 */
struct gpu_node {
	char path[64];		/* "/dev/nvidia0" */
	uint32_t major, minor;
	unsigned needed_for;	/* capabilities that need it; 0: always needed */
	bool optional;		/* left out where the node is not there (uvm-tools, card0) */
	bool read_only;		/* being let in to read is enough (nvidia-caps) */
	bool shared;		/* other parts of the GPU have it too */
};

#define GPU_NODES_MAX 18		/* of a whole GPU with seven MIG instances: its own, DRM's two, seven times two */
#define GPU_NODE_NO_MODULE UINT32_MAX

struct gpu {
	enum gpu_vendor vendor;
	unsigned rank;		/* place among its vendor's usable GPUs: policies' "0" */
	char pci[16];		/* "0000:3b:00.0": lower case, more digits for a larger domain */
	unsigned partition;	/* MI300X and the like: several render nodes share a PCI address */
	char part[16];		/* a MIG instance: "GI" or "GI:CI" (pick.h); "": all of the GPU */
	bool mig;		/* all of a GPU that has MIG instances: given only where a policy says so */
	char uuid[48];		/* "GPU-…", AMD's unique_id as "0x…" of 16 digits, "" if unknown */
	char model[64];
	bool integrated;	/* shares the processor's memory: an APU, an Intel iGPU or NPU */
	char unusable[128];	/* why it can't be given out ("excluded by …"), "" if it can */
	struct gpu_node node[GPU_NODES_MAX];
	size_t nodes;
	struct strlist cdi;	/* its names in CDI specs, "vendor.com/class=name" (host/cdigpus.h) */
};

/* Names of one section of /proc/devices (kernel: fs/proc/devices.c). */
struct devmajor {
	uint32_t major;
	char type;		/* 'c' or 'b' */
	char name[64];		/* the kernel's own limit: a cut name could be another driver's */
};

struct devmajors {
	struct devmajor *v;
	size_t n;
};

struct inventory {
	struct gpu *gpu;	/* sorted by vendor, PCI address, partition */
	size_t gpus;
	/* what every GPU of the vendor needs too: nvidiactl, kfd */
	struct gpu_node common[GPU_VENDORS][GPU_NODES_MAX];
	size_t commons[GPU_VENDORS];
	/* WHY_NONE, or why it can't be said what GPUs of the vendor there are: nothing else of it counts then */
	struct why fault[GPU_VENDORS];
	/* why the vendor has no usable GPU here ("module nvidia is not loaded: …"), "" if it has */
	char absent[GPU_VENDORS][128];
	struct devmajors majors;
	/* /proc/driver/nvidia/params, for nodes that nvidia-modprobe would make */
	bool nvidia_modify;	/* ModifyDeviceFiles */
	uint32_t nvidia_uid, nvidia_gid, nvidia_mode;
	/* nodes from which udev takes the ACL entries of users with every event, and leaves those of groups (its uaccess) */
	struct devnum *flushed;
	size_t flusheds;
	char nvidia_version[32];	/* of the loaded driver: "580.95.05"; "" if unknown */
	/* the first of the CDI specs that can't be used, and why; "": all can, or nobody has looked (host/cdigpus.h) */
	char cdi_problem[256];
};

const char *gpu_vendor_name(enum gpu_vendor v);			/* "nvidia" */
bool gpu_vendor_parse(const char *name, enum gpu_vendor *v);
/* "compute" and so on; "all" is every one of them. */
bool gpu_capability_parse(const char *name, unsigned *bit);

/* Does a container with these capabilities (GPU_CAP_*) need the node? */
bool gpu_node_is_needed(const struct gpu_node *n, unsigned capabilities);
/* -1, saying which module to load, for a node of the major GPU_NODE_NO_MODULE. */
int gpu_node_check(const struct gpu_node *n, struct why *why);

/*
 * /proc/devices, whole text.  Only the two sections "Character devices:" and
 * "Block devices:" are known, names are matched whole.  -1: not of that form,
 * or cut off («510 nvidia» may be the beginning of «510 nvidia-uvm»).
 */
int devmajors_parse(const char *text, struct devmajors *out, struct why *why);
void devmajors_free(struct devmajors *m);
/*
 * The major that a character driver of exactly this name has; false if there
 * is none or, for safety, if there are several different ones.
 */
bool devmajors_char(const struct devmajors *m, const char *name, uint32_t *major);
/*
 * True if character devices of this major are GPUs': the fixed ones (195
 * nvidia, 226 drm, 261 accel: Documentation/admin-guide/devices.txt) whether
 * or not a driver is loaded, and all that /proc/devices names nvidia*, drm,
 * kfd, accel or gdrdrv.
 */
bool devmajors_is_gpu(const struct devmajors *m, uint32_t major);

/* /proc/driver/nvidia/params into inv's nvidia_* fields (defaults: modify, 0, 0, 0666). */
void nvidia_params_parse(const char *text, struct inventory *inv);

/*
 * Writes a PCI address in our form; false if it is none.  Spellings: a domain
 * of 4 to 8 hex digits or none at all (domain 0, as lspci prints), either case:
 * "00000000:3B:00.0" and "3b:00.0" are "0000:3b:00.0".
 */
bool pci_address_normalise(const char *s, char out[16]);
/* One of domain << 16 | bus << 8 | device << 3 | function. */
void pci_address_print(uint64_t pci, char out[16]);

/*
 * Sorts inv->gpu by vendor, PCI address and partition, and fills rank: each
 * vendor's usable GPUs count from 0, unusable ones have none (UINT_MAX).
 * Integrated ones count, so that allowing them renumbers nothing.  MIG instances
 * do not: theirs is the rank of their GPU.
 */
void inventory_rank(struct inventory *inv);

/* A new GPU at the end of the inventory, valid until the next one is added; NULL: out of memory. */
struct gpu *inventory_add(struct inventory *inv, enum gpu_vendor vendor);
/* Adds a node; what does not fit is a bug, and left out rather than written past the end. */
void gpu_node_add(struct gpu_node v[GPU_NODES_MAX], size_t *n, struct gpu_node node);
/*
 * Which part of its physical GPU an entry of the inventory is, as pick.h writes
 * it: an AMD partition's number where the inventory has more than one of its PCI
 * address, usable or not, and "", the whole, where it has not.
 */
void gpu_part(const struct inventory *inv, const struct gpu *g, char out[16]);
/* One more of «flushed».  False: no memory. */
bool inventory_add_flushed(struct inventory *inv, uint32_t major, uint32_t minor);
bool inventory_flushes(const struct inventory *inv, uint32_t major, uint32_t minor);
/* Adds what another one, of this vendor alone, says of the vendor.  False: no memory. */
bool inventory_merge(const struct inventory *from, enum gpu_vendor v, struct inventory *to);
/*
 * What another one says of the vendors in the mask (1 << enum gpu_vendor), as if nobody had looked for others.  -1 with
 * *why: one of these has a fault, or no memory.  inventory_free() in either case.
 */
int inventory_copy(const struct inventory *from, unsigned vendors, struct inventory *out, struct why *why);
void inventory_free(struct inventory *inv);

/*
 * True if «name» (from a policy's «devices» or a request) means this GPU:
 * "all" (any usable GPU), a UUID, a PCI address in any spelling, or, only where
 * by_rank, a decimal rank.  Never a prefix, never case-folded but for hex.  All
 * partitions of a GPU have its PCI address, and may have its UUID.  A MIG
 * instance is its GPU's name with ":GI:CI" after it, or ":GI" for all of a GPU
 * instance; "all" is every instance "GI:CI", and the whole of a GPU as well.
 * What CDI specs call it is a name, too: "vendor.com/class=name" in full, and
 * "MIG-UUID", which nothing but a spec tells.
 */
bool gpu_is_named(const struct gpu *g, const char *name, bool by_rank);

#endif
