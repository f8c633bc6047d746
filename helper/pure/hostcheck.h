/*
 * Can a host be as gpuhelper-judge says it is?  Whether it is so can't be seen: which node is which GPU's is for the
 * judge to find, before it hears anybody.  What holds whatever it says: no node but a GPU's is given, and none twice
 * that is to be given once.
 */
#ifndef GPUHELPER_PURE_HOSTCHECK_H
#define GPUHELPER_PURE_HOSTCHECK_H

#include "gpu.h"

/*
 * *inv has the majors that its reader found by itself in /proc/devices.  A vendor of which that can't be gets a fault:
 * there is a node that is no GPU's by its path and number, two GPUs that are apart have one node, or a name is none.
 * -1 with *why: no memory.
 */
int host_check(struct inventory *inv, struct why *why);

#endif
