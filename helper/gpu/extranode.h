/*
 * Nodes that a CDI device has in addition to those of its GPU. A spec may name any node of the host, such as a disk, or
 * that of another GPU that VFIO drives. So this is an allow list: an unknown node is granted to nobody.
 */
#ifndef GPUHELPER_GPU_EXTRANODE_H
#define GPUHELPER_GPU_EXTRANODE_H

#include "gpu.h"

/* Words of a policy's «nodes»: nodes of other drivers that a job may need in addition to a GPU. */
enum extra_word {
	EXTRA_GDRDRV = 1 << 0,	/* GDRCopy */
	EXTRA_NVIDIA_FS = 1 << 1,	/* GPUDirect Storage */
	EXTRA_IMEX = 1 << 2,		/* memory of other hosts' GPUs (NVLink between hosts) */
	EXTRA_INFINIBAND = 1 << 3,	/* RDMA: uverbs and rdma_cm, never umad and issm, which manage a fabric */
	EXTRA_NVSWITCH = 1 << 4,	/* NVLink's switches, which the fabric manager controls */
};

/* Minors of NVIDIA's driver (nv-chardev-numbers.h); 0 to 247 are GPUs. */
#define NVIDIA_MODESET_MINOR 254
#define NVIDIA_CONTROL_MINOR 255

/* An IMEX channel is a minor number of this driver. */
#define IMEX_DRIVER "nvidia-caps-imex-channels"
#define IMEX_CHANNEL_MAX ((1U << 20) - 1)

/* A character device, as the kernel shows it. */
struct extra_node {
	uint32_t major, minor;
	char pci[16];		/* of the GPU that has the node, by its PCI class (sysfs, «device»); "": none */
	char sysname[96];		/* the last two components of its path in sysfs, "misc/rdma_cm"; "": none */
};

enum extra_kind {
	EXTRA_OF_GPU,		/* the GPU's own: of its PCI device, or its driver's for all GPUs */
	EXTRA_DISPLAYS,	/* the same, but only for displays: nvidia-modeset */
	EXTRA_BY_WORD,	/* granted only by a policy with the word *word */
	EXTRA_OF_GPUS,	/* uses GPUs or makes parts of them, and is not this GPU's */
	EXTRA_UNKNOWN,	/* another driver's */
};

/*
 * What the node is to the GPU, of which «part» is granted (gpu_part(); "": the whole). Sets *word for
 * EXTRA_BY_WORD only.
 */
enum extra_kind extra_classify(const struct devmajors *m, const struct gpu *g, const char *part,
    const struct extra_node *n, unsigned *word);

/* True if the node is the GPU's own. A part of a GPU owns none: its nodes are those of the whole GPU. */
bool extra_is_own(const struct gpu *g, const char *part, const struct extra_node *n);

#endif
