/* Granted mounts that lie in each other. */
#ifndef GPUHELPER_HOST_MOUNTPOINT_H
#define GPUHELPER_HOST_MOUNTPOINT_H

#include "../pure/edits.h"

/*
 * A runtime makes the directory that it mounts on where that is missing, and can't
 * in what is mounted read-only.  Refuses a target in such a mount's unless the
 * directory is there in the mount's source.  The mounts are sorted
 * (edits_sort_mounts()), their sources are directories whose parents are trusted.
 * Opens with O_PATH only.  -1 with *why.
 */
int mountpoints_check(const struct edits *e, struct why *why);

#endif
