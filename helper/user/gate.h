/*
 * Changes a running container's device rules in its cgroup. This needs CAP_SYS_ADMIN, which root's wrapper
 * and root's timer have. cgroup v1 takes devices.deny and devices.allow. On v2, a BPF program of gpuhelper is
 * attached beside the runtime's (Documentation/admin-guide/cgroup-v2.rst, «Device controller»).
 */
#ifndef GPUHELPER_USER_GATE_H
#define GPUHELPER_USER_GATE_H

#include <stdbool.h>

#include "../pure/chore.h"
#include "../pure/why.h"

/*
 * Closes the nodes to all processes in the cgroup (relative to /sys/fs/cgroup) and beneath: they can't open
 * the nodes any more. Returns 0, or -1 with *why.
 */
int gate_shut(const char *cgroup, const struct devnum *node, size_t nodes, struct why *why);

/* Undoes gate_shut(). Other device rules still apply. Returns 0, or -1 with *why. */
int gate_open(const char *cgroup, const struct devnum *node, size_t nodes, struct why *why);

/*
 * Checks that a cgroup of version 2 has device rules: those are programs, which only root may list. Returns
 * 0, for version 1 as well, or -1 with *why.
 */
int gate_is_ruled(const char *cgroup, struct why *why);

#define GATE_PROGRAMS_MAX 64	/* the kernel's limit for a cgroup */

/*
 * Gets the ids of the programs with device rules of an open cgroup of version 2: those that are attached to the
 * cgroup, or, with «effective», also those of the cgroups above, which apply in it as well. Returns 0, or -1 with
 * errno: ENOSPC if there are more than GATE_PROGRAMS_MAX.
 */
int gate_programs(int dir, bool effective, uint32_t ids[GATE_PROGRAMS_MAX], uint32_t *n);

#endif
