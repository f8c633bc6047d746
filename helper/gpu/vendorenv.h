/*
 * The variables and mounts by which a vendor's runtime below the wrapper (nvidia-container-runtime, NVIDIA's
 * prestart hook, amd-container-runtime) learns the granted GPUs, and no others.
 */
#ifndef GPUHELPER_GPU_VENDORENV_H
#define GPUHELPER_GPU_VENDORENV_H

#include "../base/text.h"
#include "gpu.h"

/* A granted GPU, and what it is granted for (enum gpu_capability). */
struct vendor_grant {
	const struct gpu *gpu;
	unsigned capabilities;
};

/*
 * Adds NVIDIA_VISIBLE_DEVICES with NVIDIA_DRIVER_CAPABILITIES, and AMD_VISIBLE_DEVICES, for vendors with
 * granted GPUs. 0, or -1 with *why if such a runtime has no name for exactly this GPU.
 */
int vendor_env(const struct inventory *inv, const struct vendor_grant *granted, size_t n, struct strlist *out,
    struct why *why);

/* True for an entry of these variables, which nobody else may set. */
bool vendor_env_owns(const char *entry);

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
