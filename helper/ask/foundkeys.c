/* See foundkeys.h. */
#include "foundkeys.h"

#include <stdlib.h>

void
found_keys_free(struct found_keys *k, size_t n)
{
	size_t i;

	for (i = 0; k != NULL && i < n; i++)
		free(k[i].text);
	free(k);
}

void
found_keys_fields(struct lines *t, void *keys)
{
	struct found_keys *k = keys;
	bool there = k->text != NULL;

	field_bool(t, &there);
	if (there) {
		field_copy(t, &k->text);
		field_i64(t, &k->fetched);
	} else
		why_fields(t, &k->why);
}
