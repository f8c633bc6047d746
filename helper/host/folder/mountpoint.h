/* Granted mounts within one another. */
#ifndef GPUHELPER_HOST_FOLDER_MOUNTPOINT_H
#define GPUHELPER_HOST_FOLDER_MOUNTPOINT_H

#include "../../lease/edits.h"

/*
 * A runtime makes a missing directory before it mounts on it, which fails inside a read-only mount. So this
 * refuses a target inside a read-only mount if the mount's source lacks the directory. Assumes mounts sorted
 * by edits_sort_mounts(), and sources that are directories with trusted parents. Opens with O_PATH only.
 * Returns 0, or -1 with *why.
 */
int mountpoints_check(const struct edits *e, struct why *why);

#endif
