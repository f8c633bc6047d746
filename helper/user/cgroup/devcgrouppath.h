/*
 * The cgroups whose device rules apply to a process, or will apply to a container. A cgroup allows no device that one
 * above denies (Documentation/admin-guide/cgroup-v1/devices.rst; cgroup-v2.rst, «Device controller»).
 */
#ifndef GPUHELPER_USER_CGROUP_DEVCGROUPPATH_H
#define GPUHELPER_USER_CGROUP_DEVCGROUPPATH_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * The cgroup of process «pid» in the hierarchy with the device rules, relative to /sys/fs/cgroup («devices/a» with v1,
 * «a» with v2). The caller frees it. NULL if it can't be seen, or has no path in this cgroup namespace.
 */
char *devcgroup_of(pid_t pid);

/* True if «dir», relative to /sys/fs/cgroup, is in the hierarchy with the device rules. */
bool devcgroup_is(const char *dir);

/* True if the cgroup is «above» or lies beneath it. */
bool devcgroup_is_beneath(const char *dir, const char *above);

/*
 * Opens the cgroup «dir», or the nearest one above that exists: its rules hold for a cgroup that is yet to be made.
 * A descriptor, or -1.
 */
int devcgroup_open(const char *dir);

/*
 * True if every program with device rules that applies in the cgroup «a» of version 2 applies in «b», too: then «b»
 * denies whatever «a» denies. False if that can't be seen: only root may list programs.
 */
bool devcgroup_includes(int b, int a);

#endif
