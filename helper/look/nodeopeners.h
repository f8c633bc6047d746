/*
 * Which processes of containers use a device node. Any container may use one: a container that received a descriptor
 * from another container uses a GPU that it has no lease for.
 */
#ifndef GPUHELPER_LOOK_NODEOPENERS_H
#define GPUHELPER_LOOK_NODEOPENERS_H

#include <sys/types.h>

#include "../ask/lookquery.h"
#include "../lease/edits.h"

/*
 * opener[i] gets the pid of a container's process that has node[i] open or mapped, or 0. A process is a
 * container's if its PID namespace, user namespace or root directory differs from this process's own, so the
 * host's daemons (nvidia-persistenced, DCGM) do not count. opener[i] gets -pid if such a process keeps descriptors in
 * the queue of a socket: they could be of any node. Not seen: what an io_uring(7) keeps, and before Linux 5.6 what a
 * socket keeps.
 * *at is the process being looked at, so that the caller knows which one if the scan never ends. *out says why an
 * opener may have been missed: a process can't be seen, or OPENERS_MS do not suffice.
 */
void openers_find(const struct edit_node *node, size_t nodes, pid_t *opener, volatile pid_t *at,
    struct look_incomplete *out);

#endif
