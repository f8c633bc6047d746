/*
 * The lock of a lease whose container's first process only pauses (lease/callerop.h): a file in /run/gpuhelper/locks.
 */
#ifndef GPUHELPER_ROOT_END_DEVICELOCK_H
#define GPUHELPER_ROOT_END_DEVICELOCK_H

#include "../../lease/leasefile.h"

/* Makes the lock. A process holds it while it changes what the lease's container may open. -1 with *why. */
int device_lock_make(const struct lease *l, struct why *why);
/* Removes the lock, if it exists. -1 with *why. */
int device_lock_remove(const struct lease *l, struct why *why);

#endif
