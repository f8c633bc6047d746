/*
 * The NVIDIA driver's files by name: which capabilities of a container
 * (NVIDIA_DRIVER_CAPABILITIES, a policy's «capabilities») each of them is for.
 * Fits specs of nvidia-ctk's as well as our own.  Text only: whether a file is
 * really the driver's is for others to see.
 */
#ifndef GPUHELPER_PURE_NVLIBS_H
#define GPUHELPER_PURE_NVLIBS_H

#include <stdbool.h>

#include "gpu.h"

#define GPU_CAP_ALL ((1U << 7) - 1)	/* what gpu_capability_parse() makes of "all" */

/*
 * The capabilities (GPU_CAP_*) that need this library: a base name of a library
 * of the driver, as a development link ("libcuda.so"), by its SONAME
 * ("libcuda.so.1") or as its file ("libcuda.so.580.95.05").  0: none that is
 * known.  Never GPU_CAP_COMPAT32: a library of 32 bits has the same name, see
 * nvlib_dir_is_32().
 */
unsigned nvlib_capabilities(const char *basename);

/*
 * The same for any file or socket of the driver by its path, on the host or in a
 * container: libraries, programs, firmware (of every capability, for whoever
 * opens the node may have it loaded), configuration, sockets.  0: none that is
 * known.
 */
unsigned nvfile_capabilities(const char *path);

/* What lets containers share a GPU's contexts (MPS): nothing that a container gets without being named for it. */
bool nvfile_is_mps(const char *path);

/*
 * True if a path lies in a directory that has libraries of 32 bits on every
 * distribution: .../i386-linux-gnu and the like, lib32.  RHEL has them in
 * /usr/lib, where others have those of 64 bits; our own specs say so in
 * NVLIB_ANNOTATION_32.
 */
bool nvlib_dir_is_32(const char *path);

/*
 * Annotation of a spec that gpuhelperctl wrote: the directories in a container,
 * with commas between them, whose mounts are libraries of 32 bits
 * ("/usr/lib,/usr/lib/i386-linux-gnu").
 */
#define NVLIB_ANNOTATION_32 "gpuhelper/compat32"

/*
 * Another name that programs load a library by, beside its SONAME and that of
 * its file, relative to where it lies: "libcuda.so", "gbm/nvidia-drm_gbm.so".
 * NULL: none.
 */
const char *nvlib_other_name(const char *basename);

#endif
