/* See instancevarstext.h: as text. Must parse no JSON. The helper does not link this file. */
#include "instancevarstext.h"

#include <string.h>

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
	lines_begin(s, "vars");
	field_bool(s, &v->there);
	lines_pairs(s, "var", &v->name, &v->value);
}
