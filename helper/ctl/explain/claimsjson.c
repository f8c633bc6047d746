/* See claimsjson.h. */
#include "claimsjson.h"

#include <stdlib.h>
#include <string.h>

#include "../../base/cleanup.h"
#include "../../json/strictjson.h"
#include "../../judge/claimvalue.h"
#include "../../policy/claimsetadd.h"

int
claims_parse(const char *text, struct claim_set *out, struct why *why)
{
	json_t *object = strictjson_object(text, strlen(text), why), *value;
	const char *name;
	int ret = object != NULL ? 0 : refuse_within(why, "claims");

	json_object_foreach(object, name, value) {
		autofree char *is = claim_value_text(value);

		if (ret == 0 && (is == NULL || !claim_set_add(out, name, is)))
			ret = refuse_nomem(why);
	}
	json_decref(object);
	return ret;
}

bool
claims_fill(struct claim_set *s, const struct strlist *names)
{
	size_t i;

	for (i = 0; i < names->n; i++)
		if (claim_set_value(s, names->v[i]) == NULL && !claim_set_add(s, names->v[i], "absent"))
			return false;
	return true;
}

/* NULL for the words that only tell a type. */
static json_t *
value_json(const char *text)
{
	if (*text == '"')
		return json_string(text + 1);
	if (strcmp(text, "list") == 0 || strcmp(text, "group") == 0 || strcmp(text, "fraction") == 0)
		return NULL;
	if (strcmp(text, "absent") == 0)
		return json_null();
	return json_loads(text, JSON_DECODE_ANY, NULL);
}

json_t *
claims_json(const struct claim_set *s)
{
	json_t *object = json_object(), *value, *had;
	size_t i;

	for (i = 0; i < s->name.n; i++) {
		if ((value = value_json(s->value.v[i])) == NULL)
			continue;
		if ((had = json_object_get(object, s->name.v[i])) == NULL)
			json_object_set_new(object, s->name.v[i], value);
		else if (json_is_array(had))
			json_array_append_new(had, value);
		else
			json_object_set_new(object, s->name.v[i], json_pack("[O, o]", had, value));
	}
	return object;
}
