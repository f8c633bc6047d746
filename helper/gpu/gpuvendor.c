/* See gpu.h: vendors as policies and requests name them. */
#include <string.h>

#include "gpu.h"
#include "gpufind.h"

bool
gpu_vendor_parse(const char *name, enum gpu_vendor *v)
{
	unsigned i;

	for (i = 0; i < GPU_VENDORS; i++)
		if (strcmp(name, gpu_vendor_name((enum gpu_vendor)i)) == 0) {
			*v = (enum gpu_vendor)i;
			return true;
		}
	return false;
}
