/*
 * The NVIDIA driver's files by name, and the capabilities of a container (NVIDIA_DRIVER_CAPABILITIES, a
 * policy's «capabilities») that each is for. For specs of nvidia-ctk as well as for gpuhelper's. Compares
 * text only: callers must check that a file really is the driver's.
 */
#ifndef GPUHELPER_CDI_NVLIBS_H
#define GPUHELPER_CDI_NVLIBS_H

#include <stdbool.h>

#include "../gpu/gpu.h"
#include "cdi.h"

/*
 * The capabilities (GPU_CAP_*) that need this library of the driver, by base name: the development link
 * ("libcuda.so"), the SONAME ("libcuda.so.1") or the file ("libcuda.so.580.95.05"). 0 if it is unknown. Never
 * GPU_CAP_COMPAT32, because 32-bit libraries have the same names: see nvmount_is_32().
 */
unsigned nvlib_capabilities(const char *basename);

/*
 * The same for any file or socket of the driver by its path, on the host or in a container: libraries,
 * programs, firmware, configuration, sockets. Firmware is for all capabilities, because opening a node may
 * load it. 0 if the file is unknown.
 */
unsigned nvfile_capabilities(const char *path);

/*
 * The systemd unit of the driver's service that makes this socket, by the socket's path: "nvidia-persistenced". NULL
 * for any other file.
 */
const char *nvfile_service(const char *path);

/*
 * True for files of MPS, which lets containers share a GPU's contexts. A container gets them only if its
 * policy says so.
 */
bool nvfile_is_mps(const char *path);

/*
 * True if the mount, one of the spec's common edits, is a 32-bit library. Its place is .../i386-linux-gnu,
 * lib32 or the like. /usr/lib has 32-bit libraries on RHEL and 64-bit ones elsewhere: there the mount counts
 * if the same file is also mounted at one of the former places, as gpuhelperctl's specs do. nvidia-ctk mounts
 * no 32-bit libraries.
 */
bool nvmount_is_32(const struct cdi_edits *e, const struct cdi_mount *m);

/* True for a library whose file name has a version of its own instead of the driver's, or none. */
bool nvlib_own_version(const char *basename);

/*
 * Gets the driver's version, "580.95.05", from /sys/module/nvidia/version or the first line of
 * /proc/driver/nvidia/version. False if it has none.
 */
bool nvidia_version_parse(const char *text, char out[32]);

/*
 * Another name by which programs load the library, other than its SONAME and its file name, relative to its directory:
 * "libcuda.so", "gbm/nvidia-drm_gbm.so". NULL if there is none.
 */
const char *nvlib_other_name(const char *basename);

/*
 * Gets the SONAME of a 64-bit library of the driver, as in releases 390 to 615: "libcuda.so.1" for
 * "libcuda.so.580.95.05". False if it is unknown.
 */
bool nvlib_soname(const char *basename, char out[64]);

/* The directory beneath a loader's where programs look for the library: "vdpau/" for VDPAU's drivers, mostly "". */
const char *nvlib_beneath(const char *basename);

#endif
