/* What CDI specs say of GPUs, as lines (inventorylines.h). */
#ifndef GPUHELPER_GPU_INVENTORYNAMES_H
#define GPUHELPER_GPU_INVENTORYNAMES_H

#include "../base/lines.h"
#include "gpu.h"

/* Writes or reads the names of the GPUs (as many as *inv has), problems, and other devices. */
void inventory_names_lines(struct lines *t, struct inventory *inv);

#endif
