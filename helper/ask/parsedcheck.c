/* See parsedcheck.h. */
#include "parsedcheck.h"

static int
check_parsed_policy(const struct policy *p, struct why *why)
{
	const bool for_pipeline = p->identity != IDENTITY_CALLER;
	if ((p->team != NULL) != for_pipeline || (p->pipeline != NULL) != for_pipeline ||
	    (!for_pipeline && (p->has_jobs || p->instance_vars.there)) ||
	    ((p->issuer != NULL || p->privileged) && p->identity != IDENTITY_TOKEN) ||
	    (p->claims.name.n > 0 && p->issuer == NULL))
		return parsed_refuse(p->name, "an invalid identity", why);
	return parsed_check_grants(p, why);
}

int
parsed_check(const struct settings *s, const struct policy_set *p, struct why *why)
{
	size_t i;

	if (parsed_check_settings(s, why) == -1)
		return -1;
	for (i = 0; i < p->n; i++)
		if (p->v[i].broken == NULL && check_parsed_policy(&p->v[i].policy, why) == -1)
			return -1;
	return 0;
}
