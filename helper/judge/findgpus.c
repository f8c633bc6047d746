/* See findgpus.h. Reads the host with its caller's rights, and changes nothing. */
#include "findgpus.h"

#include "../gpu/gpufind.h"
#include "../host/gpu/gpus.h"

int
host_find_gpus(const struct drm_source *drm, uint32_t vendors, struct inventory *out, struct why *why)
{
	struct why bad;
	bool whole = true;
	unsigned v;

	for (v = 0; v < GPU_VENDORS && whole; v++) {
		struct inventory one;

		if ((vendors & 1U << v) == 0)
			continue;
		if (gpus_here(drm, 1U << v, &one, &bad) == -1)
			out->fault[v] = bad;
		else
			whole = inventory_merge(&one, (enum gpu_vendor)v, out);
		inventory_free(&one);
	}
	return whole ? 0 : refuse_nomem(why);
}
