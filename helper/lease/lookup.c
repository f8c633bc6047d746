/* See lookup.h. */
#include "lookup.h"

#include <stdlib.h>
#include <string.h>

#include "../base/path.h"

/* True for the same directory, or one in it, on one file system. */
static bool
within(const char *fs_path, const char *dir)
{
	const char *a = strchr(fs_path, ' '), *b = strchr(dir, ' ');

	return a != NULL && b != NULL && a - fs_path == b - dir && strncmp(fs_path, dir, (size_t)(a - fs_path)) == 0 &&
	    path_at_or_beneath(a + 1, b + 1);
}

bool
lookup_passes(const struct lookup *w, const struct lookup *through)
{
	size_t i;

	if (path_is_beneath(w->path, through->path))
		return true;
	for (i = 1; through->at.n > 0 && i < w->at.n; i++)
		if (within(w->at.v[i], through->at.v[0]))
			return true;
	return false;
}

bool
lookup_same(const struct lookup *a, const struct lookup *b)
{
	size_t i;

	if (strcmp(a->path, b->path) != 0 || a->writable != b->writable || a->at.n != b->at.n)
		return false;
	for (i = 0; i < a->at.n; i++)
		if (strcmp(a->at.v[i], b->at.v[i]) != 0)
			return false;
	return true;
}

void
lookup_fields(struct lines *s, void *lookup)
{
	struct lookup *w = lookup;
	size_t i;

	field_copy(s, &w->path);
	field_bool(s, &w->writable);
	fields_list(s, &w->at);
	if (!s->failed && (w->path[0] != '/' || w->at.n == 0))
		s->failed = true;
	for (i = 0; i < w->at.n; i++)
		if (strstr(w->at.v[i], " /") == NULL)
			s->failed = true;
}

void
lookup_free(struct lookup *w)
{
	free(w->path);
	strlist_free(&w->at);
	*w = (struct lookup){ 0 };
}
