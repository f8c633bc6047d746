/* What a container's mounts let it write of the host's kernel: its settings, its devices, its cgroups. */
#ifndef GPUHELPER_USER_EXPOSURE_H
#define GPUHELPER_USER_EXPOSURE_H

#include "spec.h"

/*
 * For a container whose root is the host's: 1 with what it may do, and what to do about
 * that, as a piece of a line; 0 if nothing; -1 with *why (no memory).  A file system of cgroups may be
 * mounted to write in where the container has a cgroup namespace of its own.  Looks at the sources of bind mounts.
 */
int exposure_find(const struct spec *s, bool cgroup_namespace, char *what, size_t size, struct why *why);

#endif
