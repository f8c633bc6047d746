/* See enginequery.h: the check of an answer. */
#include <string.h>

#include "../base/path.h"
#include "enginequery.h"

static int
refuse_answer(const char *what, struct why *why)
{
	return refuse(why, WHY_BUG, "gpuhelper-engine reports %s that no CDI spec can give", what);
}

static bool
is_text(const char *text)
{
	return text == NULL || text_is_utf8(text, strlen(text));
}

int
engine_answer_check(const struct engine_answer *a, struct why *why)
{
	const struct driver_edits *d = &a->driver;
	size_t i;

	for (i = 0; i < a->nodes; i++)
		if (!path_is_clean(a->node[i].path) || !path_is_beneath(a->node[i].path, "/dev"))
			return refuse_answer("a node", why);
	if (!paths_are_clean(&d->mounted) || !paths_are_clean(&d->run) || !paths_are_clean(&d->specs))
		return refuse_answer("a path", why);
	/* the reply is JSON, which nobody could write otherwise */
	return strlist_is_utf8(&a->env) && is_text(a->line) && is_text(d->files) && is_text(d->process) ? 0 :
	    refuse_answer("a text", why);
}
