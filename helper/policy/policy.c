/* See policy.h. */
#include "policy.h"

#include <stdlib.h>

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
