/* Hides the host's other NVIDIA GPUs in a container's /proc. */
#ifndef GPUHELPER_GPU_PROCMASK_H
#define GPUHELPER_GPU_PROCMASK_H

#include "../base/text.h"
#include "gpu.h"

/*
 * Adds the paths in /proc/driver/nvidia about GPUs and MIG instances that are not granted, and the
 * capabilities to partition GPUs. False if memory is short.
 */
bool procmask_others(const struct inventory *inv, const struct gpu *const *granted, size_t n, struct strlist *out);

#endif
