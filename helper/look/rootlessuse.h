/*
 * Whether a container's process uses what a lease gave it, for containers that no cgroup sets apart
 * (rootless).
 */
#ifndef GPUHELPER_LOOK_ROOTLESSUSE_H
#define GPUHELPER_LOOK_ROOTLESSUSE_H

#include <stdbool.h>

#include "../host/process/scanbudget.h"
#include "../lease/leasefile.h"

/*
 * True if a process of one of the lease's users
 * - has one of its nodes mapped, or open in any thread; or
 * - is in a mount namespace into which a node or a folder of the lease is bind-mounted. A rootless runtime
 * does that for a container, so a container counts before it opens anything. For folders, a copy of the
 * host's own mounts does not count.
 * True as well if this can't be seen, or if *budget, which is used up, does not suffice. Other users'
 * processes do not count: nvidia-persistenced keeps nodes open for ever.
 */
bool rootless_lease_in_use(const struct lease *l, struct budget *budget);

#endif
