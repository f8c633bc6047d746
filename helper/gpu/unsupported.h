/*
 * Nodes of NVIDIA GPUs that gpuhelper can't give, because no node stands for one GPU alone: those of WSL2 and of Tegra.
 */
#ifndef GPUHELPER_GPU_UNSUPPORTED_H
#define GPUHELPER_GPU_UNSUPPORTED_H

/* The kind of host that has such a node ("WSL2", "Tegra"), from the node's path. NULL for every other node. */
const char *node_unsupported(const char *path);

#endif
