/* See claimset.h. Must interpret no name and no value. */
#include "claimset.h"

void
claim_set_free(struct claim_set *s)
{
	strlist_free(&s->name);
	strlist_free(&s->value);
}

void
claim_set_lines(struct lines *t, const char *line, struct claim_set *s)
{
	lines_pairs(t, line, &s->name, &s->value);
}
