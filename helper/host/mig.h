/* MIG instances of this host's NVIDIA GPUs. */
#ifndef GPUHELPER_HOST_MIG_H
#define GPUHELPER_HOST_MIG_H

#include "../pure/gpu.h"

/*
 * Adds the instances of inv->gpu[at], whose node is /dev/nvidiaMINOR, if it has
 * any, each with the nodes of its own capabilities and of no others; the GPU
 * itself is marked (mig), and gets those of all.  What can't be read makes it
 * unusable.  -1 with *why: no memory.
 */
int mig_find(int root, struct inventory *inv, size_t at, uint32_t minor, struct why *why);

#endif
