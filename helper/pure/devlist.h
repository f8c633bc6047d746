/* devices.list of cgroup v1: what its members may open (Documentation/admin-guide/cgroup-v1/devices.rst). */
#ifndef GPUHELPER_PURE_DEVLIST_H
#define GPUHELPER_PURE_DEVLIST_H

#include <stdbool.h>
#include <stdint.h>

/*
 * True if the character device may be read or written; a line that is not
 * understood lets everything be, but for one about block devices.
 */
bool devlist_allows(const char *list, uint32_t major, uint32_t minor);

#endif
