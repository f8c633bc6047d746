/* Finds parts of the host's kernel that a container's mounts let it write: settings, devices, cgroups. */
#ifndef GPUHELPER_USER_PRIVILEGE_KERNELWRITES_H
#define GPUHELPER_USER_PRIVILEGE_KERNELWRITES_H

#include "../spec/spec.h"

/*
 * For a container whose root is the host's root. Returns 1 and writes to *what (at most «size» bytes) what
 * the container may do and how to change that, as a part of a line. Returns 0 if it finds nothing, or -1 with
 * *why. A container with a cgroup namespace of its own may have a cgroup file system that it can write. Looks
 * at the sources of bind mounts.
 */
int kernel_writes_find(const struct spec *s, bool cgroup_namespace, char *what, size_t size, struct why *why);

#endif
