/* See wanted.h. Computes only. */
#include "wanted.h"

#include <string.h>

static bool
want_names(const struct claim_set *claims, struct strlist *out)
{
	size_t i;

	for (i = 0; i < claims->name.n; i++)
		if (!strlist_has(out, claims->name.v[i]) && !strlist_add(out, claims->name.v[i], SIZE_MAX))
			return false;
	return true;
}

bool
issuers_want(struct settings *s, const struct policy_set *p)
{
	const struct policy *policy;
	size_t i, k;

	for (i = 0; i < s->issuers; i++)
		for (k = 0; k < p->n; k++) {
			policy = &p->v[k].policy;
			/* a broken policy has only a name */
			if (policy->issuer != NULL && strcmp(policy->issuer, s->issuer[i].url) == 0 &&
			    !want_names(&policy->claims, &s->issuer[i].claims.wanted))
				return false;
		}
	return true;
}
