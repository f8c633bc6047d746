/* See claimsetadd.h: what the helper does not need. */
#include "claimsetadd.h"

#include <string.h>

bool
claim_set_add(struct claim_set *s, const char *name, const char *value)
{
	return strlist_add(&s->name, name, SIZE_MAX) && strlist_add(&s->value, value, SIZE_MAX);
}

const char *
claim_set_value(const struct claim_set *s, const char *name)
{
	size_t i;

	for (i = 0; i < s->name.n; i++)
		if (strcmp(s->name.v[i], name) == 0)
			return s->value.v[i];
	return NULL;
}
