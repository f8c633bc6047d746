/*
 * What a vendor's runtime below the wrapper (nvidia-container-runtime, NVIDIA's
 * prestart hook, amd-container-runtime) is told by variables: the granted GPUs
 * and no others.
 */
#ifndef GPUHELPER_PURE_VENDORENV_H
#define GPUHELPER_PURE_VENDORENV_H

#include "gpu.h"
#include "text.h"

/* A granted GPU and what it is for (enum gpu_capability). */
struct vendor_grant {
	const struct gpu *gpu;
	unsigned capabilities;
};

/*
 * Adds NVIDIA_VISIBLE_DEVICES and NVIDIA_DRIVER_CAPABILITIES, AMD_VISIBLE_DEVICES,
 * for the vendors that something is granted of.  -1 with *why for a GPU that such
 * a runtime has no name for that is this one's alone.
 */
int vendor_env(const struct inventory *inv, const struct vendor_grant *granted, size_t n, struct strlist *out,
    struct why *why);

/* True for an entry of one of these variables: no one else is to set them. */
bool vendor_env_owns(const char *entry);

/* True for one that such a runtime takes for a request ("NAME=value" or "NAME"); of those above AMD's alone. */
bool vendor_env_asks(const char *entry);

#endif
