/*
 * The variables and mounts by which a vendor's runtime below the wrapper is told, or asked for, GPUs: vendorenv.h sets
 * NVIDIA_VISIBLE_DEVICES, NVIDIA_DRIVER_CAPABILITIES and AMD_VISIBLE_DEVICES.
 */
#ifndef GPUHELPER_GPU_VENDORVARS_H
#define GPUHELPER_GPU_VENDORVARS_H

#include <stdbool.h>

/* True for an entry of these variables, which nobody else may set. */
bool vendor_env_owns(const char *entry);
/* Used by both: true for an entry of one of these variables (ends with NULL). */
bool vendor_env_is_among(const char *entry, const char *const *names);

#endif
