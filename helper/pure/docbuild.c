/* See docbuild.h. */
#include "docbuild.h"

#include <stdlib.h>
#include <string.h>

#include "cleanup.h"

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

void
items_remove(struct items *l, const char *key)
{
	size_t i;

	for (i = 0; i < l->n; i++)
		if (!l->v[i].gone && strcmp(l->v[i].key, key) == 0) {
			l->v[i].gone = true;
			return;
		}
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

/* The text of the object where it was not there; NULL where it was, or where there is nothing to say. */
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
