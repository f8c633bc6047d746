/*
 * Nodes that a CDI device has in addition to those of its GPU. A spec may name any node of the host, such as a disk, or
 * that of another GPU that VFIO drives. So this is an allow list: an unknown node is granted to nobody.
 */
#ifndef GPUHELPER_GPU_FURTHERNODE_H
#define GPUHELPER_GPU_FURTHERNODE_H

#include "gpu.h"

/* Words of a policy's «nodes»: nodes of other drivers that a job may need in addition to a GPU. */
enum further_word {
	FURTHER_GDRDRV = 1 << 0,	/* GDRCopy */
	FURTHER_NVIDIA_FS = 1 << 1,	/* GPUDirect Storage */
	FURTHER_IMEX = 1 << 2,		/* memory of other hosts' GPUs (NVLink between hosts) */
	FURTHER_INFINIBAND = 1 << 3,	/* RDMA: uverbs and rdma_cm, never umad and issm, which manage a fabric */
	FURTHER_NVSWITCH = 1 << 4,	/* NVLink's switches, which the fabric manager controls */
};

/* Minors of NVIDIA's driver (nv-chardev-numbers.h); 0 to 247 are GPUs. */
#define NVIDIA_MODESET_MINOR 254
#define NVIDIA_CONTROL_MINOR 255

/* An IMEX channel is a minor number of this driver. */
#define IMEX_DRIVER "nvidia-caps-imex-channels"
#define IMEX_CHANNEL "/dev/nvidia-caps-imex-channels/channel"
#define IMEX_CHANNEL_MAX ((1U << 20) - 1)

/* Parses "gdrdrv" and the like. Sets *channel for "imex=N" only, and then to N. */
bool further_word_parse(const char *name, unsigned *bit, uint32_t *channel);
/* The word of one bit: "gdrdrv". */
const char *further_word_name(unsigned bit);
/* The CDI kind for which NVIDIA's tool writes the word's nodes into a spec of their own: "nvidia.com/gdrcopy". */
const char *further_word_kind(unsigned bit);
/* The word of such a CDI kind; 0: it is none. */
unsigned further_kind_word(const char *kind);

/* A character device, as the kernel shows it. */
struct further_node {
	uint32_t major, minor;
	char pci[16];		/* of the GPU that has the node, by its PCI class (sysfs, «device»); "": none */
	char place[96];		/* the last two components of its place in sysfs, "misc/rdma_cm"; "": none */
};

enum further_kind {
	FURTHER_OF_GPU,		/* the GPU's own: of its PCI device, or its driver's for all GPUs */
	FURTHER_DISPLAYS,	/* the same, but only for displays: nvidia-modeset */
	FURTHER_BY_WORD,	/* granted only by a policy with the word *word */
	FURTHER_OF_GPUS,	/* uses GPUs or makes parts of them, and is not this GPU's */
	FURTHER_UNKNOWN,	/* another driver's */
};

/*
 * What the node is to the GPU, of which «part» is granted (gpu_part(); "": the whole). Sets *word for
 * FURTHER_BY_WORD only.
 */
enum further_kind further_classify(const struct devmajors *m, const struct gpu *g, const char *part,
    const struct further_node *n, unsigned *word);

/* True if the node is the GPU's own. A part of a GPU owns none: its nodes are those of the whole GPU. */
bool further_is_own(const struct gpu *g, const char *part, const struct further_node *n);

/* The first driver of character devices with this major ("vfio"), or "". */
const char *further_driver(const struct devmajors *m, uint32_t major);

/*
 * For callers that can't look at the host: true if the path is that of a node whose driver further_classify()
 * knows. *word gets the word that a policy needs for it, or 0.
 */
bool further_path_known(const char *path, unsigned *word);

/* Whether the node of that path can have that number. Any number fits a path that is not known. */
enum further_number {
	FURTHER_NUMBER_FITS,
	FURTHER_NUMBER_ODD,	/* the kernel chooses the driver's major, and never chooses this one */
	FURTHER_NUMBER_OTHER,	/* the driver's number is fixed, and differs */
};
enum further_number further_path_number(const char *path, int64_t major, int64_t minor);

#endif
