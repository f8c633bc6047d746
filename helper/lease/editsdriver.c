/* See edits.h: hooks, variables and notes of a driver. The helper does not link this file. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/path.h"
#include "../base/pathdepth.h"
#include "edits.h"
#include "editsdriver.h"

struct edit_hook *
edits_add_hook(struct edits *e)
{
	struct edit_hook *v = reallocarray(e->hook, e->hooks + 1, sizeof(*v));

	if (v == NULL)
		return NULL;
	e->hook = v;
	v[e->hooks] = (struct edit_hook){ 0 };
	return &v[e->hooks++];
}

bool
edits_add_env(struct edits *e, const char *entry)
{
	const size_t n = strcspn(entry, "=");
	size_t i;

	for (i = 0; i < e->env.n; i++)
		if (strcspn(e->env.v[i], "=") == n && strncmp(e->env.v[i], entry, n) == 0)
			return true;
	return strlist_add(&e->env, entry, SIZE_MAX);
}

bool
edits_add_note(struct edits *e, const char *fmt, ...)
{
	char text[NOTE_MAX], note[NOTE_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	text_printable(note, sizeof(note), text);
	return e->notes.n >= NOTES_MAX || strlist_has(&e->notes, note) || strlist_add(&e->notes, note, SIZE_MAX);
}

static int
mount_order(const void *a, const void *b)
{
	const struct edit_mount *x = a, *y = b;
	unsigned dx = path_depth(x->target), dy = path_depth(y->target);

	return dx != dy ? (dx > dy) - (dx < dy) : strcmp(x->target, y->target);
}

void
edits_sort_mounts(struct edits *e)
{
	if (e->mounts > 1)
		qsort(e->mount, e->mounts, sizeof(*e->mount), mount_order);
}
