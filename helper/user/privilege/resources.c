/*
 * See resources.h. The files are those of cgroup v2 («Core Interface Files» in
 * Documentation/admin-guide/cgroup-v2.rst).
 */
#include "resources.h"

#include <stdbool.h>
#include <stddef.h>

#include "../../base/cleanup.h"
#include "../../base/text.h"

static bool
is_limit(const char *file)
{
	return !text_starts(file, "cgroup.") || text_starts(file, "cgroup.max.");
}

/* Called for each «unified», because a runtime may use any one of several. */
static int
check_files(const struct doc *d, uint32_t unified, struct why *why)
{
	uint32_t k;

	for (k = doc_first(d, unified); k != DOC_NONE; k = doc_next(d, k)) {
		autofree char *file = doc_string(d, k);

		if (file == NULL)
			return refuse(why, WHY_DATA, "resources: unified: a key is not a valid string");
		if (!is_limit(file))
			return refuse(why, WHY_DENIED, "resources: unified: %.100s is not a limit: it moves, stops or ends processes, "
			    "perhaps those of another container: remove it", file);
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
