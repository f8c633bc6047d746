/*
 * Finds GPUs' nodes that a container's mounts would bring in, for containers without a device cgroup that
 * could deny them.
 */
#ifndef GPUHELPER_USER_MOUNT_NODES_H
#define GPUHELPER_USER_MOUNT_NODES_H

#include "../../gpu/gpu.h"
#include "../spec/spec.h"

/* True if the path of the host, resolved as the runtime does, is a GPU's node, also through links. */
bool node_is_gpu(const struct spec *s, const struct devmajors *majors, const char *path);

/*
 * Searches directories that are bound into the container, and the mounts beneath if the bind is recursive.
 * Marks a directory that has GPUs' nodes and no other files (spec_mount.only_gpus), and refuses one that has
 * other files as well. The search is four directories deep, and stops after some thousand entries. Returns 0,
 * or -1 with *why.
 */
int nodes_check_mounts(struct spec *s, const struct devmajors *majors, struct why *why);

#endif
