/* What a container must not see of the host's NVIDIA GPUs in its /proc. */
#ifndef GPUHELPER_PURE_PROCMASK_H
#define GPUHELPER_PURE_PROCMASK_H

#include "gpu.h"
#include "text.h"

/*
 * The paths of /proc/driver/nvidia that tell of GPUs and MIG instances other
 * than the granted ones, and the capabilities to divide GPUs anew.  False: no
 * memory.
 */
bool procmask_others(const struct inventory *inv, const struct gpu *const *granted, size_t n, struct strlist *out);

#endif
