/* See policyset.h. */
#include "policyset.h"

#include <stdlib.h>
#include <string.h>

void
policy_set_free(struct policy_set *s)
{
	size_t i;

	for (i = 0; i < s->n; i++) {
		policy_free(&s->v[i].policy);
		free(s->v[i].broken);
	}
	free(s->v);
	*s = (struct policy_set){ 0 };
}

const struct policy *
policy_of_name(const struct policy_set *s, const char *name)
{
	size_t i = 0;

	while (strcmp(s->v[i].policy.name, name) != 0)
		i++;
	return &s->v[i].policy;
}
