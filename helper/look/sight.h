/* What the container of a lease with «pauses» is doing (pure/pausing.h). */
#ifndef GPUHELPER_LOOK_SIGHT_H
#define GPUHELPER_LOOK_SIGHT_H

#include "../pure/leasefile.h"
#include "../pure/looks.h"

/* Fills *out. If the container's first process is alone in it, only that process can have a node open. */
void sight_take(const struct lease *l, struct looks *looks, struct sight *out);

#endif
