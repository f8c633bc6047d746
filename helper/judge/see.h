/* What GPUs the host has. */
#ifndef GPUHELPER_JUDGE_SEE_H
#define GPUHELPER_JUDGE_SEE_H

#include "../pure/gpu.h"

/*
 * Of the vendors in the mask (1 << enum gpu_vendor), each by itself: a fault of one is none of another's GPUs.  -1 with
 * *why: no memory.  inventory_free() in either case; *out is to be empty.
 */
int host_see(uint32_t vendors, struct inventory *out, struct why *why);

#endif
