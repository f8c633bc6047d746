/* Does a container's process use what a lease gave it?  For containers that no cgroup tells apart (rootless). */
#ifndef GPUHELPER_HOST_INUSE_H
#define GPUHELPER_HOST_INUSE_H

#include <stdbool.h>

#include "../pure/leasefile.h"
#include "opennode.h"

/*
 * True if a process of one of the lease's users has one of its nodes mapped, or open
 * in any of its threads, or lives in a mount namespace that has a node or a folder of it
 * bound into it (as a rootless runtime does for a container: so it counts while it
 * has opened nothing yet).  A copy of the host's own mounts is no container's, as
 * to folders.  True as well where that can't be seen, or not with *looks, which is
 * used up.  Others' processes (nvidia-persistenced holds nodes open for ever) are
 * no container's, and are on nobody's account.
 */
bool lease_in_use(const struct lease *l, struct looks *looks);

#endif
