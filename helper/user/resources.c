/* See resources.h.  cgroup v2: Documentation/admin-guide/cgroup-v2.rst, «Core Interface Files». */
#include "resources.h"

#include <stdbool.h>
#include <stddef.h>

#include "../pure/cleanup.h"
#include "../pure/text.h"

static bool
is_limit(const char *file)
{
	return !text_starts(file, "cgroup.") || text_starts(file, "cgroup.max.");
}

/* However often it has «unified»: which one counts is the runtime's affair. */
static int
check_files(const struct doc *d, uint32_t unified, struct why *why)
{
	uint32_t k;

	for (k = doc_first(d, unified); k != DOC_NONE; k = doc_next(d, k)) {
		autofree char *file = doc_string(d, k);

		if (file == NULL)
			return refuse(why, WHY_DATA, "resources: unified: a key that is no text");
		if (!is_limit(file))
			return refuse(why, WHY_DENIED, "resources: unified: %.100s is no limit, but moves, stops or ends processes, which "
			    "may be those of another container: leave it out", file);
	}
	return 0;
}

int
resources_check(const struct doc *d, uint32_t resources, struct why *why)
{
	uint32_t k;

	for (k = doc_first(d, resources); k != DOC_NONE; k = doc_next(d, k))
		if (doc_equals(d, k, "unified") && check_files(d, doc_value(d, k), why) == -1)
			return -1;
	return 0;
}
