/* A host's GPUs as lines (lines.h), on their way from gpuhelper-judge by way of gpuhelper-engine to the helper. */
#ifndef GPUHELPER_GPU_INVENTORYLINES_H
#define GPUHELPER_GPU_INVENTORYLINES_H

#include "../base/lines.h"
#include "gpu.h"

#define INVENTORY_GPUS_MAX 1024		/* GPUs and parts */

/*
 * Writes or reads all that gpus_find() fills, except what the helper reads itself: majors of drivers, and how
 * NVIDIA's nodes are made. Computes ranks again (inventory_rank()). inventory_free() after reading, in any
 * case.
 */
void inventory_lines(struct lines *t, struct inventory *inv);

#endif
