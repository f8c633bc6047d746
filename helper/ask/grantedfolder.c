/* See grantedfolder.h. */
#include "grantedfolder.h"

#include <stdlib.h>

#include "../base/path.h"

void
granted_folder_fields(struct lines *t, void *folder)
{
	struct granted_folder *f = folder;

	field_u32(t, &f->rule);
	field_bool(t, &f->writable);
	field_copy_if_any(t, &f->path);
}

void
granted_folders_free(struct granted_folder *f, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		free(f[i].path);
	free(f);
}

static int
refuse_folder(const char *by, const char *what, struct why *why)
{
	return refuse(why, WHY_BUG, "%s sent an invalid verdict: %s", by, what);
}

int
granted_folder_give(const struct granted_folder *f, const char *by, const struct giving *t)
{
	const struct folder_rule *r;
	const char *rest;

	if (f->rule >= t->policy->folders)
		return refuse_folder(by, "a folder by a rule that does not exist", t->why);
	r = &t->policy->folder[f->rule];
	if (f->writable && !r->writable)
		return refuse_folder(by, "rw for a folder that the rule gives ro", t->why);
	if (f->path != NULL && (!path_is_clean(f->path) || glob_is(f->path) ||
	    !folder_rule_gives(r, f->path, &rest)))
		return refuse_folder(by, "a folder that the rule does not give", t->why);
	return give_folder(t, r, f->path, f->writable);
}
