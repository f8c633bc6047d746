/* See unpack.h. */
#include "unpack.h"

#include <string.h>

int
unpack_strings(const json_t *j, struct strlist *out)
{
	const json_t *s;
	size_t i;

	if (!json_is_array(j))
		return -1;
	json_array_foreach(j, i, s)
		if (!json_is_string(s) || !strlist_add(out, json_string_value(s), SIZE_MAX))
			return -1;
	return 0;
}

int
unpack_u32(const json_t *n, uint32_t *out)
{
	json_int_t v = json_integer_value(n);

	if (!json_is_integer(n) || v < 0 || v > (json_int_t)UINT32_MAX)
		return -1;
	*out = (uint32_t)v;
	return 0;
}

int
unpack_number(const json_t *j, const char *key, uint32_t *out)
{
	return unpack_u32(json_object_get(j, key), out);
}

int
unpack_text(const json_t *j, const char *key, char **out)
{
	const json_t *s = json_object_get(j, key);

	if (s == NULL)
		return 0;
	return json_is_string(s) && (*out = strdup(json_string_value(s))) != NULL ? 0 : -1;
}

int
unpack_mount(const json_t *j, struct edits *e)
{
	struct edit_mount *m;
	const char *source = json_string_value(json_object_get(j, "hostPath"));
	const char *target = json_string_value(json_object_get(j, "containerPath"));
	static const char *const none[] = { NULL };

	if (source == NULL || target == NULL || !edits_add_mount(e, source, target, none))
		return -1;
	m = &e->mount[e->mounts - 1];
	if (unpack_text(j, "place", &m->fs_path) == -1)
		return -1;
	return unpack_strings(json_object_get(j, "options"), &m->options);
}
