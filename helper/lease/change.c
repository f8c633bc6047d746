/* See change.h. */
#include "change.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const change_kinds[] = { "make node", "allow user", "allow group", "label" };

static bool
is_same(const struct change *a, const struct change *b)
{
	return a->kind == b->kind && a->major == b->major && a->minor == b->minor && a->id == b->id &&
	    strcmp(a->path, b->path) == 0 && strcmp(a->label, b->label) == 0;
}

bool
change_is_acl(enum change_kind kind)
{
	return kind == CHANGE_ALLOW_USER || kind == CHANGE_ALLOW_GROUP;
}

bool
changes_add(struct changes *all, const struct change *a)
{
	struct change *v;
	size_t i;

	for (i = 0; i < all->n; i++)
		if (is_same(&all->v[i], a))
			return true;
	if ((v = reallocarray(all->v, all->n + 1, sizeof(*v))) == NULL)
		return false;
	all->v = v;
	v[all->n++] = *a;
	return true;
}

bool
changes_describe(const struct changes *all, struct strlist *out)
{
	char line[sizeof(all->v->path) + SECONTEXT_MAX + 32], id[16];
	const struct change *a;

	for (a = all->v; a < all->v + all->n; a++) {
		snprintf(id, sizeof(id), "%u ", a->id);
		snprintf(line, sizeof(line), "%s %s%s%s%s", change_kinds[a->kind],
		    change_is_acl(a->kind) ? id : "", a->path, a->label[0] != '\0' ? " " : "", a->label);
		if (!strlist_add(out, line, SIZE_MAX))
			return false;
	}
	return true;
}

bool
changes_make_any(const struct changes *all)
{
	size_t i;

	for (i = 0; i < all->n; i++)
		if (all->v[i].kind == CHANGE_MAKE_NODE && !all->v[i].shared)
			return true;
	return false;
}

void
changes_keep_nodes(struct changes *all)
{
	size_t i, n = 0;

	for (i = 0; i < all->n; i++)
		if (all->v[i].kind == CHANGE_MAKE_NODE)
			all->v[n++] = all->v[i];
	all->n = n;
}

void
changes_free(struct changes *all)
{
	free(all->v);
	*all = (struct changes){ .n = 0 };
}
