/*
 * The NVIDIA driver's files by name: which capabilities of a container
 * (NVIDIA_DRIVER_CAPABILITIES, a policy's «capabilities») each of them is for.
 * Fits specs of nvidia-ctk's as well as our own.  Text only: whether a file is
 * really the driver's is for others to see.
 */
#ifndef GPUHELPER_PURE_NVLIBS_H
#define GPUHELPER_PURE_NVLIBS_H

#include <stdbool.h>

#include "cdi.h"
#include "gpu.h"

#define GPU_CAP_ALL ((1U << 7) - 1)	/* what gpu_capability_parse() makes of "all" */

/*
 * The capabilities (GPU_CAP_*) that need this library: a base name of a library
 * of the driver, as a development link ("libcuda.so"), by its SONAME
 * ("libcuda.so.1") or as its file ("libcuda.so.580.95.05").  0: none that is
 * known.  Never GPU_CAP_COMPAT32: a library of 32 bits has the same name, see
 * nvmount_is_32().
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
 * True if the mount, one of the spec's common edits, is a library of 32 bits: it
 * goes to .../i386-linux-gnu and the like or to lib32, or it goes to /usr/lib,
 * where RHEL has libraries of 32 bits and others those of 64, and the same file
 * goes to one of the former as well.  That is how gpuhelperctl writes them;
 * nvidia-ctk mounts none of 32 bits.
 */
bool nvmount_is_32(const struct cdi_edits *e, const struct cdi_mount *m);

/* True for a library that has a version of its own in its file's name, not the driver's, or none. */
bool nvlib_own_version(const char *basename);

/*
 * The driver's version, "580.95.05", from /sys/module/nvidia/version or the first
 * line of /proc/driver/nvidia/version.  False: none there.
 */
bool nvidia_version_parse(const char *text, char out[32]);

/*
 * Another name that programs load a library by, beside its SONAME and that of
 * its file, relative to where it lies: "libcuda.so", "gbm/nvidia-drm_gbm.so".
 * NULL: none.
 */
const char *nvlib_other_name(const char *basename);

/*
 * The name that programs and other libraries load it by (SONAME), where it is
 * one of the driver's of 64 bits, as its releases from 390 to 580 have them:
 * "libcuda.so.1" for "libcuda.so.580.95.05".  False: none that is known.
 */
bool nvlib_soname(const char *basename, char out[64]);

#endif
