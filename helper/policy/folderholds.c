/* See folderholds.h: whether a folder lies in another. */
#include "folderholds.h"

#include <stdlib.h>
#include <string.h>

#include "../base/cleanup.h"
#include "../base/path.h"

bool
folder_rule_holds(const struct folder_rule *r, const char *path)
{
	const char *name = path_last(r->path), *rest;
	const size_t dir = (size_t)(name - r->path);
	autofree char *first = NULL;

	if (!r->writable)
		return false;
	if (!glob_is(r->path))
		return path_is_beneath(path, r->path);
	/* for a pattern, the folder that the path goes through */
	if (strncmp(path, r->path, dir) != 0 || (rest = strchr(path + dir, '/')) == NULL)
		return false;
	first = strndup(path + dir, (size_t)(rest - path) - dir);
	return first == NULL || glob_match(name, first);
}
