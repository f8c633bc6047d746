/*
 * Which processes of containers use a device node?  Of whichever container: one
 * that was passed a descriptor by another has a GPU that no lease knows of.
 */
#ifndef GPUHELPER_HOST_HOLDERS_H
#define GPUHELPER_HOST_HOLDERS_H

#include <sys/types.h>

#include "../pure/edits.h"
#include "../pure/why.h"

/* for what takes a fraction of a second; with thousands of processes, on a busy host, a few */
#define HOLDERS_MS 8000

/*
 * holder[i] gets the PID of a process that has node[i] open or mapped, or 0.  A
 * container's is who has a PID or user namespace, or a root directory, that is
 * not this process's own: the host's daemons (nvidia-persistenced, DCGM) are not
 * looked at.  A descriptor on its way through a socket is not seen.
 * *at is the process that is being looked at, for when that one never lets go of who looks.
 * 0; -1 with *why where that can't be seen, or takes longer than HOLDERS_MS.
 */
int holders_find(const struct edit_node *node, size_t nodes, pid_t *holder, volatile pid_t *at, struct why *why);

#endif
