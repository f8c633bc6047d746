/* See cdijson.h. doc.h parses the text; this file copies its tree. */
#include "cdijson.h"

#include <stdlib.h>
#include <string.h>

#include "../../base/text.h"
#include "../../json/doc.h"

/* Copies doc.h's tree. Its nodes are in the order of the text, so the place only moves forward. */
struct copying {
	const struct doc *d;
	struct cdit *t;
	struct cdi_faults *f;
	size_t at;
	uint32_t line, column;
};

static void
move_to(struct copying *c, size_t at)
{
	for (; c->at < at; c->at++) {
		if (c->d->text[c->at] == '\n') {
			c->line++;
			c->column = 1;
		} else if (((unsigned char)c->d->text[c->at] & 0xc0) != 0x80)
			c->column++;
	}
}

/* True if a string has the escape of a NUL. */
static bool
has_nul(const char *raw, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (raw[i] == '\\') {
			if (len - i >= 6 && memcmp(raw + i, "\\u0000", 6) == 0)
				return true;
			i++;	/* a backslash may be escaped, too */
		}
	return false;
}

/*
 * Copies the text of a scalar or a key. If doc_string() fails, the text has a NUL or memory is short: it does not say
 * which.
 */
static bool
copy_text(struct copying *c, uint32_t from, uint32_t to)
{
	const struct doc_node *n = &c->d->node[from];
	const char *raw = c->d->text + n->start;
	char **text = &c->t->node[to].text;

	if (n->kind != DOC_STRING) {
		*text = strndup(raw, n->end - n->start);
	} else if ((*text = doc_string(c->d, from)) == NULL && has_nul(raw, n->end - n->start)) {
		cdi_fault(c->f, CDI_INVALID, c->line, c->column, "", "a NUL in a string");
		return false;
	}
	if (*text == NULL)
		c->f->starved = true;
	return *text != NULL;
}

static uint32_t
copy_node(struct copying *c, uint32_t from)
{
	static const enum cdit_kind kinds[] = { [DOC_OBJECT] = CDIT_OBJECT, [DOC_ARRAY] = CDIT_ARRAY,
		[DOC_STRING] = CDIT_STRING, [DOC_NUMBER] = CDIT_NUMBER, [DOC_TRUE] = CDIT_BOOL,
		[DOC_FALSE] = CDIT_BOOL, [DOC_NULL] = CDIT_NULL };
	enum doc_kind kind = c->d->node[from].kind;
	uint32_t n;

	move_to(c, c->d->node[from].start);
	if ((n = cdit_new(c->t, kinds[kind], c->line, c->column, c->f)) == CDIT_NONE)
		return CDIT_NONE;
	if (kind != DOC_OBJECT && kind != DOC_ARRAY && !copy_text(c, from, n))
		return CDIT_NONE;
	return n;
}

static uint32_t
copy_tree(struct copying *c, uint32_t from, unsigned depth)
{
	const bool object = doc_is(c->d, from, DOC_OBJECT), array = doc_is(c->d, from, DOC_ARRAY);
	uint32_t n = copy_node(c, from), k, item, value, last = CDIT_NONE;

	if (n == CDIT_NONE || (!object && !array))
		return n;
	if (depth >= CDIT_DEPTH) {
		cdi_fault(c->f, CDI_INVALID, c->line, c->column, "", "nested deeper than %d", CDIT_DEPTH);
		return CDIT_NONE;
	}
	for (k = doc_first(c->d, from); k != DOC_NONE; k = doc_next(c->d, k)) {
		if ((item = object ? copy_node(c, k) : copy_tree(c, k, depth + 1)) == CDIT_NONE)
			return CDIT_NONE;
		if (object) {
			if ((value = copy_tree(c, doc_value(c->d, k), depth + 1)) == CDIT_NONE)
				return CDIT_NONE;
			c->t->node[item].child = value;
		}
		if (last == CDIT_NONE)
			c->t->node[n].child = item;
		else
			c->t->node[last].next = item;
		last = item;
		c->t->node[n].count++;
	}
	return n;
}

bool
cdit_json(struct cdit *t, const char *text, size_t len, struct cdi_faults *f)
{
	autodoc struct doc d = { 0 };
	struct copying c = { .d = &d, .t = t, .f = f, .line = 1, .column = 1 };
	const char *reason;
	struct why why;

	if (doc_parse(&d, text, len, &why) == -1) {
		if (why.code == WHY_BUG) {
			f->starved = true;
			return false;
		}
		move_to(&c, d.refused_at);
		/* the parser's columns are bytes; those of faults are characters, for YAML, too */
		reason = text_starts(why.text, "line ") && strstr(why.text, ": ") != NULL ? strstr(why.text, ": ") + 2 : why.text;
		cdi_fault(f, CDI_INVALID, c.line, c.column, "", "%s", reason);
		return false;
	}
	return copy_tree(&c, 0, 0) != CDIT_NONE;
}
