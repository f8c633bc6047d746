/*
 * The variables by which a vendor's runtime below the wrapper (nvidia-container-runtime, NVIDIA's
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

#endif
