/* See policy.h. */
#include "policy.h"

#include "../cdi/cdiname.h"

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
