/*
 * The names by which programs load a driver's libraries. A spec of nvidia-ctk mounts files
 * (libcuda.so.580.95.05) and leaves the links to hooks. Where no hook makes them, each library is also
 * mounted under its SONAME, in directories that loaders search without a cache, and under the names that the
 * create-symlinks hook would have made.
 */
#ifndef GPUHELPER_HOST_DRIVER_DRIVERNAMES_H
#define GPUHELPER_HOST_DRIVER_DRIVERNAMES_H

#include "../../cdi/cdi.h"
#include "../../lease/edits.h"

/*
 * Adds such mounts to *out for each library that *out has from one of the spec's two edits: those of every device, and
 * those of this one. A name that is at its place already is not added again, and decides nothing about other libraries.
 * Adds none at a place that the spec or *out uses, or where a hook in *out makes a link. False if memory is short.
 */
bool driver_names_add(const struct cdi_edits *const from[2], struct edits *out);

/*
 * The first driver library in *e that a container's loader would not find: it is in a directory that no
 * loader searches, its SONAME is not known, and no hook of *e tells the loader of it. NULL if there is none.
 */
const char *driver_unnamed(const struct edits *e);

#endif
