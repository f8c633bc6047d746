/* The lock of a lease whose container's first process only pauses (pure/chore.h), in /run/gpuhelper/locks. */
#ifndef GPUHELPER_ROOT_GATELOCK_H
#define GPUHELPER_ROOT_GATELOCK_H

#include "../pure/leasefile.h"

/* Makes the lock that is held by whoever changes what the lease's container may open.  -1 with *why. */
int gate_lock_make(const struct lease *l, struct why *why);
/* Removes it, if it is there.  -1 with *why. */
int gate_lock_remove(const struct lease *l, struct why *why);

#endif
