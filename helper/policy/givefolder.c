/* See policygrant.h: folders. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/path.h"
#include "policygrant.h"

bool
folder_rule_gives(const struct folder_rule *r, const char *path, const char **rest)
{
	size_t dir;

	if (glob_is(r->path)) {
		dir = (size_t)(path_last(r->path) - r->path);
		/* a hidden folder must be named: a pattern in host/folder/folders.c does not match it either */
		if (strncmp(path, r->path, dir) != 0 || path[dir] == '.' || strchr(path + dir, '/') != NULL ||
		    !glob_match(r->path + dir, path + dir))
			return false;
		*rest = path + dir - 1;
		return true;
	}
	if (strcmp(path, r->path) != 0 && !(r->subfolders && path_is_beneath(path, r->path)))
		return false;
	*rest = path + strlen(r->path);
	return true;
}

/* The folder's path in the container. The caller frees it; NULL if memory is short. */
static char *
target_of(const struct folder_rule *r, const char *path)
{
	const char *rest = "";
	char *target;

	if (path != NULL)
		(void)folder_rule_gives(r, path, &rest);
	if (r->target != NULL)
		return asprintf(&target, "%s%s", r->target, rest) == -1 ? NULL : target;
	if (path == NULL && glob_is(r->path))
		return strndup(r->path, (size_t)(path_last(r->path) - r->path - 1));
	return strdup(path != NULL ? path : r->path);
}

int
give_folder(const struct giving *t, const struct folder_rule *r, const char *path, bool writable)
{
	const bool subfolder = path != NULL && !glob_is(r->path) && strcmp(path, r->path) != 0;
	struct folder_grant *v = reallocarray(t->out->folder, t->out->folders + 1, sizeof(*v));

	if (v == NULL)
		return refuse_nomem(t->why);
	t->out->folder = v;
	v += t->out->folders++;
	*v = (struct folder_grant){ .rule = r, .path = strdup(path != NULL ? path : r->path), .target = target_of(r, path),
		.base = subfolder ? strdup(r->path) : NULL, .writable = writable };
	return v->path == NULL || v->target == NULL || (subfolder && v->base == NULL) ? refuse_nomem(t->why) : 0;
}
