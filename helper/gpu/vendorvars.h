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

/*
 * True for an entry ("NAME=value" or "NAME") that such a runtime takes for a request; of the variables above,
 * only AMD's.
 */
bool vendor_env_asks(const char *entry);
/* True for either, except what NVIDIA's own specs have, which says the opposite (void). */
bool vendor_env_requests(const char *entry);

/*
 * True for a mount at this place in the container that NVIDIA's runtime takes for a request, or, with the name «void»,
 * for one that is satisfied already (nvidia-container-toolkit 1.20.2 puts that into each CDI spec). The path must be
 * absolute and clean. The runtime compares the start of the text, so «...devicesall» is such a place as well.
 */
bool vendor_mount_asks(const char *target);

#endif
