/* What a grant asks of a driver, and the device nodes that it gets beyond those in the tables of gpu.h. */
#ifndef GPUHELPER_POLICY_GRANTEDGPU_H
#define GPUHELPER_POLICY_GRANTEDGPU_H

#include "policy.h"

/* A GPU that is granted, and the rule that grants it. */
struct granted_gpu {
	const struct gpu *gpu;
	const struct gpu_rule *rule;
};

#define DRIVER_NODES_MAX 128	/* of one container: its GPUs' own, 16 of nvidia-fs, InfiniBand's, a switch each */
#define DRIVER_MOUNTS_MAX 1024
#define DRIVER_HOOKS_MAX 256
#define DRIVER_MASKED_MAX 8192	/* some paths for each GPU and part of the host */
#define DRIVER_WORDS_MAX 1024	/* variables of a container; arguments and variables of a hook */

struct extra_nodes {
	struct gpu_node v[DRIVER_NODES_MAX];
	/*
	 * own[i] is the GPU whose PCI device has v[i]: a process that has the node open uses that GPU. NULL
	 * if no GPU owns it.
	 */
	const struct gpu *own[DRIVER_NODES_MAX];
	size_t n;
	unsigned words;		/* of enum extra_word: those that a node is granted by */
};

#endif
