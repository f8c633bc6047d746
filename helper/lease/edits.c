/* See edits.h. */
#include "edits.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/path.h"

bool
edits_add_node(struct edits *e, const struct edit_node *n)
{
	struct edit_node *v;
	size_t i;

	for (i = 0; i < e->nodes; i++)
		if (strcmp(e->node[i].path, n->path) == 0)
			return true;
	if ((v = reallocarray(e->node, e->nodes + 1, sizeof(*v))) == NULL)
		return false;
	e->node = v;
	e->node[e->nodes++] = *n;
	return true;
}

/* FNV-1a (Fowler, Noll, Vo). */
uint32_t
target_sum(const char *target)
{
	uint32_t sum = 2166136261U;

	for (; *target != '\0'; target++)
		sum = (sum ^ (unsigned char)*target) * 16777619U;
	return sum;
}

bool
edits_add_mount(struct edits *e, const char *source, const char *target, const char *const *options)
{
	struct edit_mount *v = reallocarray(e->mount, e->mounts + 1, sizeof(*v)), *m;

	if (v == NULL)
		return false;
	e->mount = v;
	m = &e->mount[e->mounts++];
	*m = (struct edit_mount){ .source = strdup(source), .target = strdup(target), .sum = target_sum(target) };
	if (m->source == NULL || m->target == NULL)
		return false;
	for (; *options != NULL; options++)
		if (!strlist_add(&m->options, *options, SIZE_MAX))
			return false;
	return true;
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

void
edits_free(struct edits *e)
{
	size_t i;

	for (i = 0; i < e->mounts; i++) {
		free(e->mount[i].source);
		free(e->mount[i].target);
		free(e->mount[i].fs_path);
		strlist_free(&e->mount[i].options);
	}
	for (i = 0; i < e->hooks; i++) {
		free(e->hook[i].when);
		free(e->hook[i].path);
		strlist_free(&e->hook[i].args);
		strlist_free(&e->hook[i].env);
	}
	free(e->mount);
	free(e->hook);
	free(e->node);
	strlist_free(&e->env);
	strlist_free(&e->gpus);
	strlist_free(&e->masked);
	strlist_free(&e->notes);
	free(e->label);
	free(e->mount_label);
	*e = (struct edits){ 0 };
}

void
edits_write_groups(struct jsonout *j, const char *key, const struct edits *e)
{
	size_t i;

	jsonout_begin(j, key, "[");
	for (i = 0; i < e->gids; i++)
		jsonout_int(j, NULL, e->gid[i]);
	jsonout_end(j, "]");
}
