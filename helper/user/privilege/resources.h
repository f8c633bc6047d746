/* Checks linux.resources, in a config.json or for update, for the files of the cgroup that it sets. */
#ifndef GPUHELPER_USER_PRIVILEGE_RESOURCES_H
#define GPUHELPER_USER_PRIVILEGE_RESOURCES_H

#include "../../json/doc.h"

/*
 * «unified» names files of the container's cgroup (v2) that the runtime writes. Allows limits. Refuses files
 * that move, stop or end processes: cgroup.procs takes any process of the host, another container's, too.
 * Returns 0, or -1 with *why.
 */
int resources_check(const struct doc *d, uint32_t resources, struct why *why);

#endif
