/*
 * See strictjson.h. Assumes any bytes: bounds recursion, and must never believe a result for which memory ran
 * short.
 */
#include "strictjson.h"

#include "watchjson.h"

/* jansson tokenises the same way up to the first error, so it never nests deeper than this counts. */
static bool
depth_is_bounded(const char *s, size_t len)
{
	bool quoted = false;
	unsigned depth = 0;
	size_t i;

	for (i = 0; i < len; i++) {
		if (quoted) {
			if (s[i] == '\\')
				i++;
			else if (s[i] == '"')
				quoted = false;
		} else if (s[i] == '"')
			quoted = true;
		else if (s[i] == '[' || s[i] == '{') {
			if (++depth > STRICTJSON_DEPTH)
				return false;
		} else if ((s[i] == ']' || s[i] == '}') && depth > 0)
			depth--;
	}
	return true;
}

static json_t *
watched_load(const char *text, size_t len, json_error_t *err, bool *starved)
{
	json_t *j;

	watchjson_begin();
	j = json_loadb(text, len, JSON_REJECT_DUPLICATES, err);
	if ((*starved = watchjson_starved())) {
		json_decref(j);
		j = NULL;
	}
	return j;
}

json_t *
strictjson_object(const char *text, size_t len, struct why *why)
{
	json_error_t err;
	bool starved;
	json_t *j;

	if (!depth_is_bounded(text, len)) {
		refuse(why, WHY_DATA, "nested deeper than %d", STRICTJSON_DEPTH);
		return NULL;
	}
	if ((j = watched_load(text, len, &err, &starved)) == NULL) {
		switch (starved ? json_error_out_of_memory : json_error_code(&err)) {
		case json_error_out_of_memory:
			refuse_nomem(why);
			break;
		case json_error_duplicate_key:
			refuse(why, WHY_DATA, "has one name twice, at line %d, column %d", err.line,
			    err.column);
			break;
		case json_error_numeric_overflow:
			refuse(why, WHY_DATA, "has a number out of range, at line %d, column %d",
			    err.line, err.column);
			break;
		default:
			refuse(why, WHY_DATA, "is not JSON from line %d, column %d on", err.line,
			    err.column);
		}
		return NULL;
	}
	if (!json_is_object(j)) {
		json_decref(j);
		refuse(why, WHY_DATA, "is JSON, but no object");
		return NULL;
	}
	return j;
}
