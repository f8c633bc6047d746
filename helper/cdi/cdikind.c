/* See cdiname.h: kinds. The helper does not link this file. */
#include <string.h>

#include "cdiname.h"

static const char *const own_kind[GPU_VENDORS] = { [GPU_NVIDIA] = "nvidia.com/gpu", [GPU_AMD] = "amd.com/gpu",
	[GPU_INTEL] = "intel.com/gpu" };

bool
cdi_kind_is_own(const char *kind, enum gpu_vendor vendor)
{
	return strcmp(kind, own_kind[vendor]) == 0;
}

const char *
cdi_name_of(const struct gpu *g, const char *kind)
{
	const char *want = kind != NULL ? kind : own_kind[g->vendor];
	size_t i;

	for (i = 0; i < g->cdi.n; i++)
		if (cdi_name_is_of(g->cdi.v[i], want))
			return g->cdi.v[i];
	return kind == NULL && g->cdi.n > 0 ? g->cdi.v[0] : NULL;
}

bool
cdi_kind_ok(const char *kind)
{
	const char *slash = strchr(kind, '/');

	return slash != NULL && cdi_vendor_or_class_ok(kind, (size_t)(slash - kind)) &&
	    cdi_vendor_or_class_ok(slash + 1, strlen(slash + 1));
}
