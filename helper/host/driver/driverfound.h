/*
 * Which of a driver's libraries the programs of a container will find, by the changes to it. A program names a library
 * by its SONAME (libcuda.so.1), and the loader of the image looks for that name in its own directories.
 */
#ifndef GPUHELPER_HOST_DRIVER_DRIVERFOUND_H
#define GPUHELPER_HOST_DRIVER_DRIVERFOUND_H

#include "../../cdi/nvhook.h"
#include "../../lease/edits.h"

/* True if *e has a hook of NVIDIA's tool kit that does this. *e only has hooks that will run. */
bool driver_hook_runs(const struct edits *e, enum nvhook what);
/* True if one of these hooks will make a symbolic link at this path. */
bool driver_hook_links(const struct edits *e, const char *path);

/*
 * Compares paths in a container: since the usrmerge /lib is a link to /usr/lib, and specs name either. Returns where
 * the comparison may begin.
 */
const char *driver_path_merged(const char *path);

/*
 * True if a program of the container finds the driver's library of this SONAME. Looks into the directories that *e
 * mounts: the image may have been told of such a directory (LD_LIBRARY_PATH).
 */
bool driver_finds(const struct edits *e, const char *soname);

#define DRIVER_MISSING_MAX 64
/*
 * Writes the libraries that every program with these capabilities (GPU_CAP_*) of an NVIDIA GPU needs and will not find,
 * as «libcuda.so.1 or libnvidia-ml.so.1». "" if there are none.
 */
void driver_missing(const struct edits *e, unsigned capabilities, char out[DRIVER_MISSING_MAX]);

#endif
