/*
 * Where paths of the container lead once everything is mounted, and what the runtime makes there. tests/container/
 * inmounts.py has the table of what runtimes make.
 */
#ifndef GPUHELPER_USER_MOUNT_CREATEDPATHS_H
#define GPUHELPER_USER_MOUNT_CREATEDPATHS_H

#include "../../lease/edits.h"
#include "../spec/spec.h"

/*
 * Refuses a container for which the runtime would make anything in a granted folder: a missing process.cwd, a device,
 * the default devices. crun does so before it makes a read-only folder read-only. Follows the links of the image and
 * of the container's own volumes. «root» is the image (rootfs_open()); the grant is merged after the mounts of «s».
 * Returns 0, or -1 with *why. Does not see what another container changes in a shared volume afterwards.
 */
int created_paths_check(const struct spec *s, int root, const struct edits *e, struct why *why);

#endif
