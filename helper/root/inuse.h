/* Does a container's process use a device node?  For containers that no cgroup tells apart (rootless). */
#ifndef GPUHELPER_ROOT_INUSE_H
#define GPUHELPER_ROOT_INUSE_H

#include <stdbool.h>

#include "../pure/leasefile.h"

#define INUSE_LOOKS 20000	/* at processes and descriptors: at most 0.3 s */

/*
 * True if a process of one of these users has one of these nodes open, or lives
 * in a mount namespace that has one bound into it (as a rootless runtime does
 * for a container: so it counts while it has opened nothing yet).  True as well
 * where that can't be seen, or not with *looks, which is counted down.  Others'
 * processes (nvidia-persistenced holds nodes open for ever) are no container's.
 */
bool node_in_use(const struct edit_node *nodes, size_t n, const struct idspan *users, size_t spans, unsigned *looks);

#endif
