/*
 * Nodes that a CDI device has beside those of its GPU.  A spec may name any node of
 * the host, another GPU's in VFIO's hands or a disk's, so this is an allow list:
 * what nothing here knows is nobody's.
 */
#ifndef GPUHELPER_PURE_FURTHERNODE_H
#define GPUHELPER_PURE_FURTHERNODE_H

#include "gpu.h"

/* Words of a policy's «nodes»: nodes of drivers that are not the GPU's, which a job may need beside one. */
enum further_word {
	FURTHER_GDRDRV = 1 << 0,	/* GDRCopy */
	FURTHER_NVIDIA_FS = 1 << 1,	/* GPUDirect Storage */
	FURTHER_IMEX = 1 << 2,		/* memory of GPUs of other hosts (NVLink over several hosts) */
	FURTHER_INFINIBAND = 1 << 3,	/* RDMA: uverbs and rdma_cm, never umad and issm, by which a fabric is managed */
};

bool further_word_parse(const char *name, unsigned *bit);
/* "gdrdrv"; of one bit. */
const char *further_word_name(unsigned bit);

/* A character device, as the kernel shows it. */
struct further_node {
	uint32_t major, minor;
	char pci[16];		/* of the PCI device that it is a node of, "" if it is of none (sysfs, «device») */
	char place[96];		/* the last two parts of its place in sysfs: "misc/rdma_cm"; "" if it has none */
};

enum further_kind {
	FURTHER_OF_GPU,		/* the GPU's own: the same PCI device's, or its driver's for all GPUs alike */
	FURTHER_DISPLAYS,	/* likewise, but only for what displays: nvidia-modeset */
	FURTHER_BY_WORD,	/* *word says by which */
	FURTHER_OF_GPUS,	/* GPUs are used by it, or parts of them made, and it is not this one's */
	FURTHER_UNKNOWN,	/* another driver's */
};

/*
 * What the node is to the GPU, of which «part» is given (gpu_part(); "": all of it).
 * *word is set for FURTHER_BY_WORD alone.
 */
enum further_kind further_judge(const struct devmajors *m, const struct gpu *g, const char *part,
    const struct further_node *n, unsigned *word);

/* The first driver of character devices that has the major ("vfio"); "": none has. */
const char *further_driver(const struct devmajors *m, uint32_t major);

/*
 * By its path alone, for who can't look at the host: true for a node of a driver that further_judge() knows, by a
 * word (which *word then is) or without (0).
 */
bool further_path_known(const char *path, unsigned *word);

/* Can the node of that path have that number?  True of what has none of the known paths. */
enum further_number {
	FURTHER_NUMBER_FITS,
	FURTHER_NUMBER_ODD,	/* its driver's major is one that the kernel gives out, and this is none of those */
	FURTHER_NUMBER_OTHER,	/* its driver's number never changes, and this is another one */
};
enum further_number further_path_number(const char *path, int64_t major, int64_t minor);

#endif
