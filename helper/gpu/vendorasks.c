/* See vendorasks.h: what asks for GPUs. The helper does not link this file. */
#include "vendorasks.h"

#include <string.h>

#include "../base/text.h"
#include "vendorvars.h"

bool
vendor_env_asks(const char *entry)
{
	static const char *const names[] = { "AMD_VISIBLE_DEVICES", "NVIDIA_IMEX_CHANNELS", "NVIDIA_GDS", "NVIDIA_MOFED",
		"NVIDIA_GDRCOPY", "NVIDIA_NVSWITCH", NULL };

	return text_starts(entry, "DOCKER_RESOURCE_") || text_starts(entry, "NVIDIA_MIG_") ||
	    vendor_env_is_among(entry, names);
}

bool
vendor_env_requests(const char *entry)
{
	return (vendor_env_owns(entry) || vendor_env_asks(entry)) && strcmp(entry, "NVIDIA_VISIBLE_DEVICES=void") != 0;
}

bool
vendor_mount_asks(const char *target)
{
	return text_starts(target, "/run/nvidia-container-devices") ||
	    text_starts(target, "/var/run/nvidia-container-devices");
}
