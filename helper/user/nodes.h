/* Nodes of GPUs that a container's mounts would bring along, where no device cgroup keeps it from opening them. */
#ifndef GPUHELPER_USER_NODES_H
#define GPUHELPER_USER_NODES_H

#include "../pure/gpu.h"
#include "spec.h"

/* A path of the host as the runtime takes it: is it a node of a GPU, be it through links? */
bool node_is_gpu(const struct spec *s, const struct devmajors *majors, const char *path);

/*
 * Looks into the directories that are bound into the container, and into what is mounted beneath where that
 * comes along.  One with nodes of GPUs and no other files is marked (spec_mount.taken_out); one that has other files,
 * too, is refused.  Directories are looked at to a depth of four, and some thousand entries.  -1 with *why.
 */
int nodes_check_mounts(struct spec *s, const struct devmajors *majors, struct why *why);

#endif
