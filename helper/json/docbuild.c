/* See docbuild.h. Computes only. */
#include "docbuild.h"

#include <stdlib.h>
#include <string.h>

#include "../base/cleanup.h"

void
items_free(struct items *l)
{
	size_t i;

	for (i = 0; i < l->n; i++) {
		free(l->v[i].json);
		free(l->v[i].key);
	}
	free(l->v);
	*l = (struct items){ 0 };
}
bool
items_add(struct items *l, uint32_t node, char *json, char *key)
{
	struct item *v = l->v;

	if (l->n == l->cap && (v = reallocarray(l->v, l->cap * 2 + 16, sizeof(*v))) != NULL) {
		l->v = v;
		l->cap = l->cap * 2 + 16;
	}
	if (v == NULL || key == NULL || (node == DOC_NONE && json == NULL)) {
		free(json);
		free(key);
		return false;
	}
	l->v[l->n++] = (struct item){ .node = node, .json = json, .key = key };
	return true;
}

/* An element with its index, to sort the elements and still know their order. */
struct ranked {
	const struct item *item;
	size_t at;
};

static int
by_place(const struct ranked *x, const struct ranked *y)
{
	return (x->at > y->at) - (x->at < y->at);
}

static int
by_key(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;
	int c = strcmp(x->item->key, y->item->key);

	return c != 0 ? c : by_place(x, y);
}

static int
by_rank(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->item->rank != y->item->rank)
		return x->item->rank < y->item->rank ? -1 : 1;
	return by_place(x, y);
}

static struct ranked *
ranked(const struct items *l, int (*order)(const void *, const void *))
{
	struct ranked *v = calloc(l->n + 1, sizeof(*v));
	size_t i;

	for (i = 0; v != NULL && i < l->n; i++)
		v[i] = (struct ranked){ &l->v[i], i };
	if (v != NULL && l->n > 1)
		qsort(v, l->n, sizeof(*v), order);
	return v;
}

/*
 * Moves the text of the last of the n elements to the place of number «to»; elements from «from» on are
 * removed.
 */
static void
move_last(struct items *l, const struct ranked *v, size_t n, size_t to, size_t from)
{
	struct item *last = &l->v[v[n - 1].at], *target = &l->v[v[to].at];

	for (; from < n; from++)
		l->v[v[from].at].gone = true;
	if (target == last)
		return;
	free(target->json);
	target->json = last->json;
	last->json = NULL;
	target->node = DOC_NONE;
}

/* Applies the rule to the n elements of one key, in order: the old ones first. */
static void
apply_rule(struct items *l, const struct ranked *v, size_t n, enum items_rule rule)
{
	size_t old = 0, i, gone = 0;

	while (old < n && v[old].item->node != DOC_NONE)
		old++;
	if (old == n)
		return;
	switch (rule) {
	case ITEMS_REPLACE:
		gone = n - (old > 0 ? old : 1);
		break;
	case ITEMS_SHIFT:
		gone = n - old < old ? n - old : n - 1;
		if (n - old < old)
			move_last(l, v, n, gone, old);
		break;
	case ITEMS_ONCE:
		for (i = old > 0 ? old : 1; i < n; i++)
			l->v[v[i].at].gone = true;
		break;
	case ITEMS_IN_PLACE:
		move_last(l, v, n, old > 0 ? old - 1 : 0, old > 0 ? old : 1);
		break;
	}
	for (i = 0; i < gone; i++)
		l->v[v[i].at].gone = true;
}

bool
items_finish(struct items *l, enum items_rule rule)
{
	autofree struct ranked *v = ranked(l, by_key);
	size_t from, to;

	for (from = 0; v != NULL && from < l->n; from = to) {
		for (to = from + 1; to < l->n && strcmp(v[from].item->key, v[to].item->key) == 0; to++)
			continue;
		apply_rule(l, v + from, to - from, rule);
	}
	return v != NULL;
}

bool
items_sort(struct items *l)
{
	autofree struct ranked *v = ranked(l, by_rank);
	autofree struct item *sorted = calloc(l->n + 1, sizeof(*sorted));
	size_t i;

	if (v == NULL || sorted == NULL)
		return false;
	for (i = 0; i < l->n; i++)
		sorted[i] = *v[i].item;
	if (l->n > 0)
		memcpy(l->v, sorted, l->n * sizeof(*sorted));
	return true;
}

char *
items_text(const struct items *l, const struct doc *d, char open)
{
	struct doc_list out;
	size_t i;

	doc_list_begin(&out, open);
	for (i = 0; i < l->n; i++) {
		if (l->v[i].gone)
			continue;
		if (l->v[i].node != DOC_NONE)
			doc_list_keep(&out, d, l->v[i].node);
		else
			doc_list_add(&out, l->v[i].json);
	}
	return doc_list_end(&out);
}

void
section_begin(struct section *s, const struct doc *d, struct doc_edits *edits, uint32_t parent, const char *name,
    uint32_t obj)
{
	*s = (struct section){ .d = d, .edits = edits, .obj = obj, .name = name, .parent = parent };
	doc_list_begin(&s->fresh, '{');
}

void
section_set(struct section *s, const char *key, char *text)
{
	autobuf struct buf b = { 0 };
	autofree char *json = NULL;

	s->any = true;
	if (text == NULL)
		s->edits->failed = true;
	else if (s->obj != DOC_NONE)
		doc_set(s->edits, s->d, s->obj, key, text);
	else {
		buf_json(&b, key);
		buf_puts(&b, ":");
		buf_puts(&b, text);
		if ((json = buf_take(&b)) != NULL)
			doc_list_add(&s->fresh, json);
		else
			s->edits->failed = true;
	}
	free(text);
}

/* The text of a new object; NULL if the object was there already, or is empty. */
static char *
section_end(struct section *s)
{
	char *text = doc_list_end(&s->fresh);

	if (text == NULL)
		s->edits->failed = true;
	if (s->obj != DOC_NONE || !s->any) {
		free(text);
		return NULL;
	}
	return text;
}

void
section_put(struct section *s, struct section *into)
{
	char *text = section_end(s);

	if (text == NULL)
		return;
	if (into != NULL)
		section_set(into, s->name, text);
	else {
		doc_set(s->edits, s->d, s->parent, s->name, text);
		free(text);
	}
}

void
put_strings(struct buf *b, const char *name, const struct strlist *l)
{
	size_t i;

	if (l->n == 0)
		return;
	buf_printf(b, ",\"%s\":[", name);
	for (i = 0; i < l->n; i++) {
		buf_puts(b, i > 0 ? "," : "");
		buf_json(b, l->v[i]);
	}
	buf_puts(b, "]");
}

void
put_string(struct buf *b, const char *name, const char *s)
{
	if (s == NULL || *s == '\0')
		return;
	buf_printf(b, ",\"%s\":", name);
	buf_json(b, s);
}

char *
object_text(const struct buf *b)
{
	autobuf struct buf whole = { 0 };

	buf_puts(&whole, "{");
	if (b->failed)
		whole.failed = true;
	else if (b->len > 1)
		buf_add(&whole, b->p + 1, b->len - 1);
	buf_puts(&whole, "}");
	return buf_take(&whole);
}
