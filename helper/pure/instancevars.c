/* See instancevars.h.  Reads no JSON. */
#include "instancevars.h"

#include <stdlib.h>

void
instance_vars_free(struct instance_vars *v)
{
	strlist_free(&v->name);
	strlist_free(&v->value);
	v->there = false;
}

static bool
add(struct instance_vars *v, const char *name, const char *value)
{
	return strlist_add(&v->name, name, SIZE_MAX) && strlist_add(&v->value, value, SIZE_MAX);
}

void
instance_vars_lines(struct lines *s, struct instance_vars *v)
{
	char *name = NULL, *value = NULL;
	size_t i;

	lines_begin(s, "vars");
	word_bool(s, &v->there);
	for (i = 0; lines_more(s, "var", i < v->name.n); i++) {
		if (s->out != NULL) {
			word_copy(s, &v->name.v[i]);
			word_copy(s, &v->value.v[i]);
			continue;
		}
		word_copy(s, &name);
		word_copy(s, &value);
		if (name != NULL && value != NULL && !add(v, name, value))
			lines_starve(s);
		free(name);
		free(value);
		if (s->failed)
			break;
	}
}
