/* See varsjson.h. */
#include "varsjson.h"

#include <stdlib.h>

#include "../base/cleanup.h"
#include "../json/watchjson.h"

/* The value in its canonical spelling. The caller frees it; NULL if memory is short. */
static char *
spell(const json_t *value)
{
	char *text;

	watchjson_begin();
	text = json_dumps(value, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY);
	if (watchjson_starved()) {
		free(text);
		text = NULL;
	}
	return text;
}

bool
instance_vars_of(const json_t *object, struct instance_vars *out)
{
	const char *name;
	json_t *value;

	*out = (struct instance_vars){ .there = object != NULL };
	/* iterating changes nothing, but jansson's type is not const */
	json_object_foreach((json_t *)(uintptr_t)object, name, value) {
		autofree char *text = spell(value);

		if (text == NULL || !strlist_add(&out->name, name, SIZE_MAX) || !strlist_add(&out->value, text, SIZE_MAX))
			return false;
	}
	return true;
}

json_t *
instance_vars_json(const struct instance_vars *v)
{
	json_t *object = v != NULL && v->there ? json_object() : NULL;
	size_t i;

	for (i = 0; object != NULL && i < v->name.n; i++)
		(void)json_object_set_new(object, v->name.v[i], json_loads(v->value.v[i], JSON_DECODE_ANY, NULL));
	return object;
}
