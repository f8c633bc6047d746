/* Whether a node that gpuhelper-engine names may be given with a GPU, by what the kernel says of the node. */
#ifndef GPUHELPER_ROOT_CHILD_EXTRAADD_H
#define GPUHELPER_ROOT_CHILD_EXTRAADD_H

#include "../../policy/grantedgpu.h"

/*
 * Adds the node to *out, with the GPU that owns it, if one of the n rules gives it with its GPU. -1 with *why
 * (WHY_BUG): none does.
 */
int extra_add(const struct inventory *inv, const struct granted_gpu *granted, size_t n, const struct gpu_node *node,
    struct extra_nodes *out, struct why *why);

#endif
