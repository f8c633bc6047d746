/* See policyset.h. */
#include "policyset.h"

#include <stdlib.h>

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
