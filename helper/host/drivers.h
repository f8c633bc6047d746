/* What GPUs' drivers say in /proc of all of their nodes. */
#ifndef GPUHELPER_HOST_DRIVERS_H
#define GPUHELPER_HOST_DRIVERS_H

#include "../pure/gpu.h"

/*
 * Which numbers are whose, and how NVIDIA's nodes are made.  -1 with *why: then none may be made.  inventory_free() in
 * either case.
 */
int drivers_read(struct inventory *inv, struct why *why);

#endif
