/*
 * What a container may open: its cgroup's device rules, changed while it runs.
 * Takes CAP_SYS_ADMIN, which the caller has or has not (root's wrapper, root's
 * timer); cgroup v1 by devices.deny and devices.allow, v2 by a BPF program of our
 * own beside the runtime's (Documentation/admin-guide/cgroup-v2.rst, «Device
 * controller»).
 */
#ifndef GPUHELPER_USER_GATE_H
#define GPUHELPER_USER_GATE_H

#include "../pure/chore.h"
#include "../pure/why.h"

/*
 * From now on nobody in the cgroup (relative to /sys/fs/cgroup), or beneath, may
 * open the nodes.  -1 with *why.
 */
int gate_shut(const char *cgroup, const struct devnum *node, size_t nodes, struct why *why);

/* They may again, as far as gate_shut() was the only thing against it.  -1 with *why. */
int gate_open(const char *cgroup, const struct devnum *node, size_t nodes, struct why *why);

/*
 * Sees that the cgroup has device rules, where it is one of version 2: those are programs,
 * which only root may ask the kernel for.  -1 with *why.
 */
int gate_is_ruled(const char *cgroup, struct why *why);

#endif
