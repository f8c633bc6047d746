/* See specpart.h. */
#include "specpart.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "exactkeys.h"

int
spec_refuse(struct why *why, const char *fmt, ...)
{
	char where[160];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(where, sizeof(where), fmt, ap);
	va_end(ap);
	return refuse(why, WHY_DATA, "config.json: %s", where);
}

int
spec_part(const struct doc *d, uint32_t obj, const char *key, enum doc_kind kind, const char *where, uint32_t *out,
    struct why *why)
{
	static const char *const kinds[] = { "an object", "a list", "a string", "a number", "true", "false", "null" };

	*out = doc_get(d, obj, key);
	if (doc_is(d, *out, DOC_OBJECT) && kind == DOC_OBJECT && strcmp(key, "annotations") != 0)
		return exact_keys(d, *out, "config.json", why);
	if (*out == DOC_NONE || doc_is(d, *out, kind))
		return 0;
	if (doc_is(d, *out, DOC_NULL) && (kind == DOC_OBJECT || kind == DOC_ARRAY || kind == DOC_STRING))
		return 0;
	return spec_refuse(why, "%s is not %s", where, kinds[kind]);
}

int
spec_string(const struct doc *d, uint32_t obj, const char *key, const char *where, char **out, struct why *why)
{
	uint32_t n;

	*out = NULL;
	if (spec_part(d, obj, key, DOC_STRING, where, &n, why) == -1)
		return -1;
	if (!doc_is(d, n, DOC_STRING))
		return 0;
	if ((*out = doc_string(d, n)) == NULL)
		return spec_refuse(why, "%s has a NUL in it", where);
	return 0;
}
