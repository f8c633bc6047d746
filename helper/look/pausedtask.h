/* What the container of a lease with «placeholder» is doing (lease/leasetasks.h). */
#ifndef GPUHELPER_LOOK_PAUSEDTASK_H
#define GPUHELPER_LOOK_PAUSEDTASK_H

#include "../host/process/looks.h"
#include "../lease/leasefile.h"

/* Fills *out. If the container's first process is alone in it, only that process can have a node open. */
void sight_take(const struct lease *l, struct looks *looks, struct sight *out);

#endif
