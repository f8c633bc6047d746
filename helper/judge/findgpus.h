/* Reads which GPUs the host has. */
#ifndef GPUHELPER_JUDGE_FINDGPUS_H
#define GPUHELPER_JUDGE_FINDGPUS_H

#include "../gpu/gpu.h"
#include "../host/gpu/drmnodes.h"

/*
 * Reads the GPUs of the vendors in the mask (1 << enum gpu_vendor), with the nodes that «drm» lists. Each vendor is
 * read by itself: a fault of one, in out->fault, does not affect the others. *out must be empty. Returns 0, or -1 with
 * *why if memory is short. The caller calls inventory_free() in any case.
 */
int host_find_gpus(const struct drm_source *drm, uint32_t vendors, struct inventory *out, struct why *why);

#endif
