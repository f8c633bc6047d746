/*
 * Whether a host can be as gpuhelper-judge describes it. Which node is whose can't be checked: the judge
 * finds that out before it reads any request. But whatever it says, only nodes of GPUs are granted, and an
 * exclusive node only once.
 */
#ifndef GPUHELPER_ASK_HOSTCHECK_H
#define GPUHELPER_ASK_HOSTCHECK_H

#include "../gpu/gpu.h"

/*
 * Checks *inv, in which the majors are those that the reader of the answer itself found in /proc/devices.
 * Sets the fault of a vendor if a node's path and number are no GPU's, if two separate GPUs have the same
 * node, or if a name is malformed. Returns 0, or -1 with *why if memory is short.
 */
int host_check(struct inventory *inv, struct why *why);

#endif
