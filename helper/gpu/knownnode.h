/*
 * Which device nodes are GPUs': the nodes of the known drivers, by path, minor and driver. Other nodes of a GPU's CDI
 * device are in extranode.h.
 */
#ifndef GPUHELPER_GPU_KNOWNNODE_H
#define GPUHELPER_GPU_KNOWNNODE_H

#include "gpu.h"

#define MIG_NODE "/dev/nvidia-caps/nvidia-cap"	/* of MIG's capabilities; the minor follows */

/* The vendors (1 << enum gpu_vendor) whose GPUs have a node with this path and number; 0 if none. */
unsigned known_node_vendors(const struct devmajors *m, const struct gpu_node *n);

/*
 * Checks that each node of this vendor's GPUs, and each that all of these have, is one that such a GPU can have.
 * -1 with *why, which names gpuhelper-judge. The majors are those that the reader itself found in /proc/devices.
 */
int known_nodes_check(const struct inventory *inv, enum gpu_vendor v, struct why *why);

#endif
