/* What the container of a lease with «gpus_by_task» is doing (lease/leasetasks.h). */
#ifndef GPUHELPER_LOOK_ACTIVITY_H
#define GPUHELPER_LOOK_ACTIVITY_H

#include "../host/process/scanbudget.h"
#include "../lease/leasefile.h"

/* Fills *out. If the container's first process is alone in it, only that process can have a node open. */
void activity_read(const struct lease *l, struct budget *budget, struct activity *out);

#endif
