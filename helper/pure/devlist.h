/* devices.list of cgroup v1: what its members may open (Documentation/admin-guide/cgroup-v1/devices.rst). */
#ifndef GPUHELPER_PURE_DEVLIST_H
#define GPUHELPER_PURE_DEVLIST_H

#include "gpu.h"

/*
 * True if the character device may be read or written; a line that is not
 * understood lets everything be, but for one about block devices.
 */
bool devlist_allows(const char *list, uint32_t major, uint32_t minor);

/*
 * True if a line lets nodes of GPUs be read or written whatever their minor is: then
 * the list keeps nobody from a GPU that is not his.  Likewise for a line that is not understood.
 */
bool devlist_is_wide(const char *list, const struct devmajors *majors);

#endif
