/* See way.h. */
#include "way.h"

#include <stdlib.h>
#include <string.h>

#include "path.h"

/* The same directory, or one in it, in one file system. */
static bool
is_in(const char *place, const char *dir)
{
	const char *a = strchr(place, ' '), *b = strchr(dir, ' ');

	return a != NULL && b != NULL && a - place == b - dir && strncmp(place, dir, (size_t)(a - place)) == 0 &&
	    path_at_or_beneath(a + 1, b + 1);
}

bool
way_passes(const struct way *w, const struct way *through)
{
	size_t i;

	if (path_is_beneath(w->path, through->path))
		return true;
	for (i = 1; through->at.n > 0 && i < w->at.n; i++)
		if (is_in(w->at.v[i], through->at.v[0]))
			return true;
	return false;
}

bool
way_lies_in(const struct way *w, const struct way *other)
{
	return w->at.n > 0 && other->at.n > 0 && strcmp(w->at.v[0], other->at.v[0]) != 0 && is_in(w->at.v[0], other->at.v[0]);
}

bool
way_same(const struct way *a, const struct way *b)
{
	size_t i;

	if (strcmp(a->path, b->path) != 0 || a->writable != b->writable || a->at.n != b->at.n)
		return false;
	for (i = 0; i < a->at.n; i++)
		if (strcmp(a->at.v[i], b->at.v[i]) != 0)
			return false;
	return true;
}

json_t *
way_pack(const struct way *w)
{
	json_t *at = json_array();
	size_t i;

	for (i = 0; i < w->at.n; i++)
		if (json_array_append_new(at, json_string(w->at.v[i])) == -1) {
			json_decref(at);
			return NULL;
		}
	return json_pack("{s:s, s:b, s:o}", "path", w->path, "writable", w->writable, "at", at);
}

bool
way_unpack(const json_t *j, struct way *w)
{
	const char *path = json_string_value(json_object_get(j, "path"));
	const json_t *at = json_object_get(j, "at"), *writable = json_object_get(j, "writable");
	bool good = path != NULL && path[0] == '/' && json_is_boolean(writable) && json_array_size(at) > 0;
	size_t i;

	*w = (struct way){ .writable = json_is_true(writable) };
	for (i = 0; good && i < json_array_size(at); i++) {
		const char *place = json_string_value(json_array_get(at, i));

		good = place != NULL && strstr(place, " /") != NULL && strlist_add(&w->at, place, SIZE_MAX);
	}
	if (good && (w->path = strdup(path)) != NULL)
		return true;
	way_free(w);
	return false;
}

void
way_free(struct way *w)
{
	free(w->path);
	strlist_free(&w->at);
	*w = (struct way){ 0 };
}
