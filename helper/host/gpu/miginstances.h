/* Finds the MIG instances of this host's NVIDIA GPUs. */
#ifndef GPUHELPER_HOST_GPU_MIGINSTANCES_H
#define GPUHELPER_HOST_GPU_MIGINSTANCES_H

#include "../../gpu/gpu.h"

/*
 * Adds the MIG instances of inv->gpu[at], whose node is /dev/nvidiaMINOR. «driver» is /proc/driver/nvidia.
 * Each instance gets the nodes of its own capabilities only. The GPU itself is marked (mig), and gets the nodes of all.
 * If something can't be read, the GPU becomes unusable. Returns 0, or -1 with *why if memory is short.
 */
int mig_find(int driver, struct inventory *inv, size_t at, uint32_t minor, struct why *why);

#endif
