/* What a vendor's runtime below the wrapper takes for a request of GPUs. */
#ifndef GPUHELPER_GPU_VENDORASKS_H
#define GPUHELPER_GPU_VENDORASKS_H

#include <stdbool.h>

/*
 * True for an entry ("NAME=value" or "NAME") that such a runtime takes for a request; of the variables in
 * vendorvars.h, only AMD's.
 */
bool vendor_env_asks(const char *entry);
/* True for an entry of either kind, except what NVIDIA's own specs have, which says the opposite (void). */
bool vendor_env_requests(const char *entry);

/*
 * True for a mount at this place in the container that NVIDIA's runtime takes for a request, or, with the name «void»,
 * for one that is satisfied already (nvidia-container-toolkit 1.20.2 puts that into each CDI spec). The path must be
 * absolute and clean. The runtime compares the start of the text, so «...devicesall» is such a place as well.
 */
bool vendor_mount_asks(const char *target);

#endif
