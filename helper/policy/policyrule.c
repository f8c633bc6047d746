/* See gpurule.h. The helper does not link this file. */
#include "gpurule.h"

#include <string.h>

#include "../cdi/cdiname.h"
#include "../gpu/gpufind.h"

const char *
gpu_rule_vendor(const struct gpu_rule *r)
{
	return r->kind != NULL ? r->kind : gpu_vendor_name(r->vendor);
}

/* Only names that the rule gives: another CDI device of the same GPU may include more. */
const char *
gpu_rule_cdi_name(const struct gpu_rule *r, const struct gpu *g)
{
	size_t i, k;

	if (r->kind == NULL || r->devices.n == 0)
		return cdi_name_of(g, r->kind);
	for (i = 0; i < g->cdi.n; i++)
		for (k = 0; k < r->devices.n; k++)
			if (gpu_rule_means_name(r, r->devices.v[k], g->cdi.v[i]))
				return g->cdi.v[i];
	return NULL;
}

unsigned
gpu_rule_vendors(const struct gpu_rule *r)
{
	return r->kind != NULL ? GPUS_ALL : 1U << r->vendor;
}

bool
gpu_rule_means_name(const struct gpu_rule *r, const char *device, const char *name)
{
	return cdi_name_is_of(name, r->kind) && (strcmp(device, "all") == 0 || strcmp(strchr(name, '=') + 1, device) == 0);
}

bool
gpu_rule_means(const struct gpu_rule *r, const char *device, const struct gpu *g)
{
	size_t i;

	if (r->kind == NULL)
		return g->vendor == r->vendor && gpu_is_named(g, device, true);
	for (i = 0; i < g->cdi.n; i++)
		if (gpu_rule_means_name(r, device, g->cdi.v[i]))
			return true;
	return false;
}

bool
gpu_rule_names(const struct gpu_rule *r, const struct gpu *g)
{
	size_t i;

	for (i = 0; i < r->devices.n; i++)
		if (gpu_rule_means(r, r->devices.v[i], g))
			return true;
	return r->devices.n == 0 && (r->kind == NULL ? g->vendor == r->vendor : gpu_rule_means(r, "all", g));
}
