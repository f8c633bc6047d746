/* See policy.h. */
#include "policy.h"

#include <stdlib.h>
#include <string.h>

#include "../cdi/cdiname.h"

const char *
identity_name(enum identity_kind k)
{
	static const char *const names[] = { "token", "caller", "claim" };

	return names[k];
}

void
policy_free(struct policy *p)
{
	size_t i;

	for (i = 0; i < p->gpus; i++) {
		strlist_free(&p->gpu[i].devices);
		free(p->gpu[i].kind);
	}
	for (i = 0; i < p->folders; i++)
		folder_rule_free(&p->folder[i]);
	free(p->gpu);
	free(p->folder);
	free(p->name);
	free(p->team);
	free(p->pipeline);
	free(p->issuer);
	strlist_free(&p->jobs);
	strlist_free(&p->callers);
	strlist_free(&p->env);
	instance_vars_free(&p->instance_vars);
	claim_set_free(&p->claims);
	free(p->selinux_type);
	free(p->selinux_level);
	*p = (struct policy){ 0 };
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
