/* See folderrule.h. Compares paths as text only; host/folder/folders.c looks at what exists. */
#include "folderrule.h"

#include <stdlib.h>
#include <string.h>

#include "../base/cleanup.h"
#include "../base/path.h"

void
folder_rule_free(struct folder_rule *r)
{
	free(r->path);
	free(r->target);
}

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

const char *const *
folder_rule_options(bool submounts, bool writable)
{
	static const char *const plain_ro[] = { "bind", "rprivate", "ro", "nosuid", "nodev", NULL };
	static const char *const plain_rw[] = { "bind", "rprivate", "rw", "nosuid", "nodev", NULL };
	/* recursive forms, for the mounts beneath: with "ro" alone these would stay writable */
	static const char *const deep_ro[] = { "rbind", "rprivate", "ro", "nosuid", "nodev", "rro", "rnosuid", "rnodev",
		NULL };
	static const char *const deep_rw[] = { "rbind", "rprivate", "rw", "nosuid", "nodev", "rnosuid", "rnodev", NULL };

	if (submounts)
		return writable ? deep_rw : deep_ro;
	return writable ? plain_rw : plain_ro;
}
