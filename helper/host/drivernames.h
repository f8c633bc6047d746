/*
 * The names that a driver's libraries are loaded by.  A spec of nvidia-ctk's
 * mounts files (libcuda.so.580.95.05) and leaves links to hooks, which are not
 * run: each library is mounted under its SONAME as well, where loaders look
 * without a cache, and under the names that create-symlinks would have made.
 */
#ifndef GPUHELPER_HOST_DRIVERNAMES_H
#define GPUHELPER_HOST_DRIVERNAMES_H

#include "../pure/cdi.h"
#include "../pure/edits.h"

/*
 * Adds such mounts to *out for what *out has from its mount number «first» on, which
 * came from the spec's edits *e; none where *e has libraries under their SONAMEs itself.
 * A place that the spec or *out has something for is left alone.  False: no memory.
 */
bool driver_names_add(const struct cdi_edits *e, size_t first, struct edits *out);

/*
 * The first of the driver's libraries in *e that a container's loader would not find: it lies in a
 * directory which no loader looks into, and its names are not known.  NULL: there is none.
 */
const char *driver_unnamed(const struct edits *e);

#endif
