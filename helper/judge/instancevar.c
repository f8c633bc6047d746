/* See instancevar.h. Parses no JSON: the first character tells the kind of a value. */
#include "instancevar.h"

#include <stdio.h>
#include <string.h>

const char *
instance_var(const struct instance_vars *v, const char *name)
{
	size_t i;

	for (i = 0; v != NULL && i < v->name.n; i++)
		if (strcmp(v->name.v[i], name) == 0)
			return v->value.v[i];
	return NULL;
}

/*
 * The number of bytes of a JSON string, at most «most», that end with a whole character. "\u001b" is one
 * character (RFC 8259).
 */
static int
whole_characters(const char *json, int most)
{
	int n = 0, next;

	for (next = 1; next <= most; next++) {
		n = next;
		if (json[n] == '\\')
			next += json[n + 1] == 'u' ? 5 : 1;
		while (((unsigned char)json[next + 1] & 0xc0) == 0x80)
			next++;
	}
	return n;
}

void
instance_var_describe(const char *value, char out[80])
{
	if (value == NULL)
		snprintf(out, 80, "not there");
	else if (*value == '"' && strlen(value) > 62)
		snprintf(out, 80, "%.*s\"", whole_characters(value, 61), value);
	else if (*value == '[' || *value == '{')
		snprintf(out, 80, "a %s", *value == '[' ? "list" : "group");
	else
		snprintf(out, 80, "%.70s", value);
}
