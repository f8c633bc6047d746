/*
 * Changes a running container's device rules in its cgroup. This needs CAP_SYS_ADMIN, which root's wrapper
 * and root's timer have. cgroup v1 takes devices.deny and devices.allow. On v2, a BPF program of gpuhelper is
 * attached beside the runtime's (Documentation/admin-guide/cgroup-v2.rst, «Device controller»).
 */
#ifndef GPUHELPER_USER_CGROUP_DEVCGROUP_H
#define GPUHELPER_USER_CGROUP_DEVCGROUP_H

#include <stdbool.h>

#include "../../base/why.h"
#include "../../lease/callerop.h"

/*
 * Lets the processes in the cgroup (relative to /sys/fs/cgroup), and beneath, open the nodes that are «allowed», as
 * far as other device rules allow it, and none of the others; with «closed», none at all. What they have open stays
 * open. Returns 0, or -1 with *why: they can then open fewer nodes, but not more.
 */
int devcgroup_set(const char *cgroup, const struct promised_node *node, size_t nodes, bool closed, struct why *why);

/* Checks that this is still so. Returns 0, or -1 with *why. */
int devcgroup_check(const char *cgroup, const struct promised_node *node, size_t nodes, bool closed, struct why *why);

/*
 * Checks that a cgroup of version 2 has device rules: those are programs, which only root may list. Returns
 * 0, for version 1 as well, or -1 with *why.
 */
int devcgroup_has_rules(const char *cgroup, struct why *why);

#define DEVCGROUP_PROGRAMS_MAX 64	/* the kernel's limit for a cgroup */

/*
 * Gets the ids of the programs with device rules of an open cgroup of version 2: those that are attached to the
 * cgroup, or, with «effective», also those of the cgroups above, which apply in it as well. Returns 0, or -1 with
 * errno: ENOSPC if there are more than DEVCGROUP_PROGRAMS_MAX.
 */
int devcgroup_programs(int dir, bool effective, uint32_t ids[DEVCGROUP_PROGRAMS_MAX], uint32_t *n);

#endif
