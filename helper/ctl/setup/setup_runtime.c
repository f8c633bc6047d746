/* See setup.h: the runtime that the wrapper will call. */
#include "../../base/pathclean.h"
#include "setup.h"

#include <stdlib.h>

#include "../../base/cleanup.h"
#include "../../base/path.h"
#include "../../user/command/runtime.h"
#include "../runprogram.h"

int
setup_runtime(struct setup *s, const char *found, struct why *why)
{
	autofree char *usual = NULL, *path = NULL;
	const char *named = s->settings.runtime != NULL ? s->settings.runtime : found;

	/* su(1) keeps the PATH of the user who calls it: that user must not choose what runs as root */
	if (named == NULL && (named = usual = runtime_find_in(PROGRAM_PATH, why)) == NULL)
		return -1;
	/* the wrapper makes the same checks before each container */
	if ((path = runtime_find(named, why)) == NULL)
		return -1;
	return (s->runtime = path_cleaned(path)) != NULL ? 0 : refuse_nomem(why);
}
