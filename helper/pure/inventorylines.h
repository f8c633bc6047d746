/* A host's GPUs as lines (lines.h): what gpuhelper-judge saw, on its way to the helper. */
#ifndef GPUHELPER_PURE_INVENTORYLINES_H
#define GPUHELPER_PURE_INVENTORYLINES_H

#include "gpu.h"
#include "lines.h"

#define INVENTORY_GPUS_MAX 1024		/* entries: GPUs and their parts */

/*
 * All that gpus_find() fills but what the helper reads for itself: the numbers of drivers, and how NVIDIA's nodes are
 * made.  Ranks are counted again (inventory_rank()).  inventory_free() afterwards in either case.
 */
void inventory_lines(struct lines *t, struct inventory *inv);

#endif
