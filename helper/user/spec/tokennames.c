/* See tokennames.h. */
#include "tokennames.h"

#include <string.h>

bool
token_name_is_ours(const char *name)
{
	return text_starts(name, "GPUHELPER_");
}

bool
token_names(const struct settings *s, bool all, struct strlist *out)
{
	const char *name;
	size_t i;

	for (i = 0; s != NULL && i < s->issuers; i++) {
		name = s->issuer[i].variable;
		if (name != NULL && strcmp(name, "GPUHELPER_TOKEN") != 0 && (all || token_name_is_ours(name)) &&
		    !strlist_has(out, name) && !strlist_add(out, name, SIZE_MAX))
			return false;
	}
	return true;
}
