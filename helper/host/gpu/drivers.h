/* What the kernel and GPU drivers report in /proc about device nodes. */
#ifndef GPUHELPER_HOST_GPU_DRIVERS_H
#define GPUHELPER_HOST_GPU_DRIVERS_H

#include "../../gpu/gpu.h"

/*
 * Reads which major numbers belong to which driver, and mode and owner of new NVIDIA nodes. Returns 0, or -1
 * with *why: no node may then be made. The caller calls inventory_free() in any case.
 */
int drivers_read(struct inventory *inv, struct why *why);

#endif
