/*
 * The names by which programs load a driver's libraries. A spec of nvidia-ctk mounts files
 * (libcuda.so.580.95.05) and leaves the links to hooks. Where the hooks do not run, each library is also
 * mounted under its SONAME, in directories that loaders search without a cache, and under the names that the
 * create-symlinks hook would have made.
 */
#ifndef GPUHELPER_HOST_DRIVERNAMES_H
#define GPUHELPER_HOST_DRIVERNAMES_H

#include "../pure/cdi.h"
#include "../pure/edits.h"

/*
 * Adds such mounts to *out for the mounts of *out from index «first» on, which came from the spec's edits *e.
 * Adds none if *e itself mounts libraries under their SONAMEs, and none at a place that the spec or *out
 * uses. False if memory is short.
 */
bool driver_names_add(const struct cdi_edits *e, size_t first, struct edits *out);

/*
 * The first driver library in *e that a container's loader would not find: it is in a directory that no
 * loader searches, and its SONAME is not known. NULL if there is none.
 */
const char *driver_unnamed(const struct edits *e);

#endif
