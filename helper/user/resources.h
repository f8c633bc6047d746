/* linux.resources, of a config.json or of update: what they may say of the cgroup's own files. */
#ifndef GPUHELPER_USER_RESOURCES_H
#define GPUHELPER_USER_RESOURCES_H

#include "../pure/doc.h"

/*
 * «unified» names files of the container's cgroup (v2), which the runtime writes: limits
 * are left alone.  -1 with *why for those by which processes come and go
 * (cgroup.procs takes any of the host's, another container's too).
 */
int resources_check(const struct doc *d, uint32_t resources, struct why *why);

#endif
