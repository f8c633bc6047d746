/* See instancevars.h. Must parse no JSON. */
#include "instancevars.h"

#include <stdlib.h>
#include <string.h>

void
instance_vars_free(struct instance_vars *v)
{
	strlist_free(&v->name);
	strlist_free(&v->value);
	v->there = false;
}

static bool
add_instance_var(struct instance_vars *v, const char *name, const char *value)
{
	return strlist_add(&v->name, name, SIZE_MAX) && strlist_add(&v->value, value, SIZE_MAX);
}

/* Bytes that a variable takes in an object, with a comma. */
static size_t
shown_size(const struct instance_vars *v, size_t i)
{
	autobuf struct buf name = { 0 };

	buf_json(&name, v->name.v[i]);
	return name.failed ? SIZE_MAX : name.len + strlen(v->value.v[i]) + 2;
}

size_t
instance_vars_show(const struct instance_vars *v, struct buf *out)
{
	size_t i, n, left_out = 0, left[2] = { VARS_SHOWN_MAX - 2, VARS_SHOWN_MAX - 2 }, *mine;
	const char *before = "{";

	/* left[1]: the bytes that the short variables leave to the long ones */
	for (i = 0; i < v->name.n; i++)
		if ((n = shown_size(v, i)) <= VARS_SHORT && n <= left[1])
			left[1] -= n;
	for (i = 0; i < v->name.n; i++) {
		n = shown_size(v, i);
		mine = &left[n > VARS_SHORT];
		if (n > *mine) {
			left_out++;
			continue;
		}
		*mine -= n;
		buf_puts(out, before);
		buf_json(out, v->name.v[i]);
		buf_printf(out, ":%s", v->value.v[i]);
		before = ",";
	}
	buf_puts(out, *before == '{' ? "{}" : "}");
	return left_out;
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
		if (name != NULL && value != NULL && !add_instance_var(v, name, value))
			lines_starve(s);
		free(name);
		free(value);
		if (s->failed)
			break;
	}
}
