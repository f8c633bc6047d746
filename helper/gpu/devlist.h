/*
 * devices.list of cgroup v1: which devices a cgroup's members may open
 * (Documentation/admin-guide/cgroup-v1/devices.rst).
 */
#ifndef GPUHELPER_GPU_DEVLIST_H
#define GPUHELPER_GPU_DEVLIST_H

#include "gpu.h"

/*
 * True if the list allows reading or writing the character device. A line that is not understood counts as
 * allowing it, unless it is about block devices.
 */
bool devlist_allows(const char *list, uint32_t major, uint32_t minor);

/*
 * True if a line allows reading or writing GPU nodes of every minor number: the list then keeps nobody from GPUs that
 * others hold. A line that is not understood counts as such a line.
 */
bool devlist_is_wide(const char *list, const struct devmajors *majors);

#endif
