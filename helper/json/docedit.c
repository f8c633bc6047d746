/* See doc.h: changes to a document. Unchanged parts must stay byte for byte. */
#include <stdlib.h>
#include <string.h>

#include "../base/cleanup.h"
#include "doc.h"

static void
add_edit(struct doc_edits *e, size_t start, size_t end, char *text)
{
	struct doc_edit *v;

	if (text == NULL || (v = reallocarray(e->v, e->n + 1, sizeof(*v))) == NULL) {
		free(text);
		e->failed = true;
		return;
	}
	e->v = v;
	e->v[e->n++] = (struct doc_edit){ .start = start, .end = end, .text = text };
}

void
doc_replace(struct doc_edits *e, const struct doc *d, uint32_t n, const char *text)
{
	add_edit(e, d->node[n].start, d->node[n].end, strdup(text));
}

void
doc_set(struct doc_edits *e, const struct doc *d, uint32_t obj, const char *key, const char *text)
{
	uint32_t n = doc_get(d, obj, key);
	autobuf struct buf b = { 0 };
	size_t at, i;
	bool comma;

	if (n != DOC_NONE) {
		doc_replace(e, d, n, text);
		return;
	}
	at = d->node[obj].end - 1;
	comma = d->node[obj].count > 0;
	for (i = 0; i < e->n; i++)
		if (e->v[i].start == at && e->v[i].end == at)
			comma = true;
	if (comma)
		buf_puts(&b, ",");
	buf_json(&b, key);
	buf_puts(&b, ":");
	buf_puts(&b, text);
	add_edit(e, at, at, buf_take(&b));
}

/* Sorts by place; edits at one place stay in order (the sort is stable). */
static void
sort_edits(struct doc_edits *e)
{
	size_t i, j;

	for (i = 1; i < e->n; i++) {
		struct doc_edit x = e->v[i];

		for (j = i; j > 0 && e->v[j - 1].start > x.start; j--)
			e->v[j] = e->v[j - 1];
		e->v[j] = x;
	}
}

char *
doc_apply(const struct doc *d, struct doc_edits *e, size_t *len)
{
	autobuf struct buf b = { 0 };
	size_t at = 0, i;

	if (e->failed)
		return NULL;
	sort_edits(e);
	for (i = 0; i < e->n; i++) {
		if (e->v[i].start < at)
			return NULL;
		buf_add(&b, d->text + at, e->v[i].start - at);
		buf_puts(&b, e->v[i].text);
		at = e->v[i].end;
	}
	buf_add(&b, d->text + at, d->len - at);
	*len = b.len;
	return buf_take(&b);
}

void
doc_edits_free(struct doc_edits *e)
{
	size_t i;

	for (i = 0; i < e->n; i++)
		free(e->v[i].text);
	free(e->v);
	*e = (struct doc_edits){ 0 };
}

void
doc_list_begin(struct doc_list *l, char open)
{
	*l = (struct doc_list){ .close = open == '{' ? '}' : ']' };
	buf_add(&l->buf, &open, 1);
}

void
doc_list_keep(struct doc_list *l, const struct doc *d, uint32_t n)
{
	uint32_t last = l->close == '}' ? d->node[n].child : n;

	if (l->n++ > 0)
		buf_puts(&l->buf, ",");
	buf_add(&l->buf, d->text + d->node[n].start, d->node[last].end - d->node[n].start);
}

void
doc_list_add(struct doc_list *l, const char *json)
{
	if (l->n++ > 0)
		buf_puts(&l->buf, ",");
	buf_puts(&l->buf, json);
}

void
doc_list_add_string(struct doc_list *l, const char *s)
{
	if (l->n++ > 0)
		buf_puts(&l->buf, ",");
	buf_json(&l->buf, s);
}

char *
doc_list_end(struct doc_list *l)
{
	buf_add(&l->buf, &l->close, 1);
	return buf_take(&l->buf);
}
