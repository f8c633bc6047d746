/* Follows the sources of a container's mounts on the host, as the runtime will. */
#ifndef GPUHELPER_USER_MOUNT_SOURCES_H
#define GPUHELPER_USER_MOUNT_SOURCES_H

#include "../spec/spec.h"

/*
 * Refuses a mount whose source brings gpuhelper's own state or settings into the container, leads through /proc/PID
 * or root.path (which lead elsewhere when the runtime mounts), or does not exist. Refuses a device whose path leads
 * through /proc/PID or root.path. A source that the caller may not see passes. Returns 0, or -1 with *why.
 */
int sources_check(const struct spec *s, struct why *why);

#endif
