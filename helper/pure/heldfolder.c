/* See heldfolder.h. */
#include "heldfolder.h"

#include <stdlib.h>
#include <string.h>

#include "path.h"

bool
held_folders_meet(const struct held_folder *a, const struct held_folder *b)
{
	/* by their paths where one is mounted in the other */
	return path_related(a->path, b->path) || (strcmp(a->fs, b->fs) == 0 && path_related(a->place, b->place));
}

json_t *
held_folder_pack(const struct held_folder *f)
{
	return json_pack("{s:s, s:s, s:s, s:s}", "path", f->path, "fs", f->fs, "place", f->place, "relabel",
	    relabel_name(f->relabel));
}

static char *
copy_of(const json_t *j, const char *key)
{
	const char *s = json_string_value(json_object_get(j, key));

	return s != NULL ? strdup(s) : NULL;
}

bool
held_folder_unpack(const json_t *j, struct held_folder *f)
{
	const char *relabel = json_string_value(json_object_get(j, "relabel"));

	*f = (struct held_folder){ .path = copy_of(j, "path"), .fs = copy_of(j, "fs"), .place = copy_of(j, "place") };
	if (f->path != NULL && f->fs != NULL && f->place != NULL && f->place[0] == '/' && relabel != NULL &&
	    relabel_of_name(relabel, &f->relabel))
		return true;
	held_folder_free(f);
	return false;
}

void
held_folder_free(struct held_folder *f)
{
	free(f->path);
	free(f->fs);
	free(f->place);
	*f = (struct held_folder){ 0 };
}
