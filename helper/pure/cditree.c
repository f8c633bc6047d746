/*
 * See cditree.h.  The text may be anyone's: depth, number and size are bounded
 * before anything is done with it.
 */
#include "cditree.h"

#include <stdlib.h>
#include <string.h>

#include "doc.h"
#include "text.h"

uint32_t
cdit_new(struct cdit *t, enum cdit_kind kind, uint32_t line, uint32_t column, struct cdi_faults *f)
{
	struct cdit_node *v;
	uint32_t cap;

	if (t->nodes >= CDIT_NODES) {
		cdi_fault(f, CDI_INVALID, line, column, "", "more than %d values", CDIT_NODES);
		return CDIT_NONE;
	}
	if (t->nodes == t->cap) {
		cap = t->cap > 0 ? t->cap * 2 : 256;
		if ((v = reallocarray(t->node, cap, sizeof(*v))) == NULL) {
			f->starved = true;
			return CDIT_NONE;
		}
		t->node = v;
		t->cap = cap;
	}
	t->node[t->nodes] = (struct cdit_node){ .kind = kind, .line = line, .column = column, .child = CDIT_NONE,
		.next = CDIT_NONE };
	return t->nodes++;
}

void
cdit_free(struct cdit *t)
{
	uint32_t i;

	for (i = 0; i < t->nodes; i++)
		free(t->node[i].text);
	free(t->node);
	*t = (struct cdit){ 0 };
}

uint32_t
cdit_get(const struct cdit *t, uint32_t object, const char *key)
{
	uint32_t k;

	if (object == CDIT_NONE || t->node[object].kind != CDIT_OBJECT)
		return CDIT_NONE;
	for (k = t->node[object].child; k != CDIT_NONE; k = t->node[k].next)
		if (strcmp(t->node[k].text, key) == 0)
			return t->node[k].child;
	return CDIT_NONE;
}

/* From doc.h's tree to ours: its nodes come in the order of the text, so the place only moves on. */
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

/* The text of a scalar or a key; doc_string() does not say whether it is a NUL or memory that it lacks. */
static bool
copy_text(struct copying *c, uint32_t from, uint32_t to)
{
	const struct doc_node *n = &c->d->node[from];
	const char *raw = c->d->text + n->start;
	char **text = &c->t->node[to].text;

	if (n->kind != DOC_STRING) {
		*text = strndup(raw, n->end - n->start);
	} else if ((*text = doc_string(c->d, from)) == NULL && memmem(raw, n->end - n->start, "\\u0000", 6) != NULL) {
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
copy(struct copying *c, uint32_t from, unsigned depth)
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
		if ((item = object ? copy_node(c, k) : copy(c, k, depth + 1)) == CDIT_NONE)
			return CDIT_NONE;
		if (object) {
			if ((value = copy(c, doc_value(c->d, k), depth + 1)) == CDIT_NONE)
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

static bool
parse_json(struct cdit *t, const char *text, size_t len, struct cdi_faults *f)
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
		/* its own line and column are bytes; ours are characters, as YAML's */
		reason = text_starts(why.text, "line ") && strstr(why.text, ": ") != NULL ? strstr(why.text, ": ") + 2 : why.text;
		cdi_fault(f, CDI_INVALID, c.line, c.column, "", "%s", reason);
		return false;
	}
	return copy(&c, 0, 0) != CDIT_NONE;
}

/* YAML 1.1's numbers (yaml.org/type/int.html and float.html), dates apart. */
static bool
number_like(const char *s)
{
	const char *digits;

	s += *s == '+' || *s == '-';
	if (strcmp(s, ".inf") == 0 || strcmp(s, ".Inf") == 0 || strcmp(s, ".INF") == 0 || strcmp(s, ".nan") == 0 ||
	    strcmp(s, ".NaN") == 0 || strcmp(s, ".NAN") == 0)
		return true;
	if (s[0] == '0' && strchr("xXoObB", s[1]) != NULL && s[1] != '\0')
		return s[2] != '\0' && s[2 + strspn(s + 2, "0123456789abcdefABCDEF_")] == '\0';
	if (*s != '.' && !(*s >= '0' && *s <= '9'))
		return false;
	digits = s;
	s += strspn(s, "0123456789_:");		/* base 60, too: 1:30 */
	if (*s == '.')
		s += 1 + strspn(s + 1, "0123456789_");
	if (s == digits + (*digits == '.') && *digits == '.')
		return false;
	if (*s == 'e' || *s == 'E') {
		s++;
		s += *s == '+' || *s == '-';
		if (!(*s >= '0' && *s <= '9'))
			return false;
		s += strspn(s, "0123456789");
	}
	return *s == '\0';
}

/* yaml.org/type/timestamp.html: 2026-01-02 with or without a time */
static bool
date_like(const char *s)
{
	size_t year = strspn(s, "0123456789"), month, day;

	if (year != 4 || s[4] != '-' || (month = strspn(s + 5, "0123456789")) < 1 || month > 2 || s[5 + month] != '-')
		return false;
	s += 6 + month;
	if ((day = strspn(s, "0123456789")) < 1 || day > 2)
		return false;
	return s[day] == '\0' || strchr("Tt \t", s[day]) != NULL;
}

enum cdit_kind
cdit_plain(const char *s)
{
	static const char *const unclear[] = { "y", "Y", "yes", "Yes", "YES", "n", "N", "no", "No", "NO", "True", "TRUE",
		"False", "FALSE", "on", "On", "ON", "off", "Off", "OFF", "Null", "NULL", "<<", "=", NULL };
	const char *p = s + (*s == '-');
	size_t i;

	if (*s == '\0' || strcmp(s, "null") == 0 || strcmp(s, "~") == 0)
		return CDIT_NULL;
	if (strcmp(s, "true") == 0 || strcmp(s, "false") == 0)
		return CDIT_BOOL;
	for (i = 0; unclear[i] != NULL; i++)
		if (strcmp(s, unclear[i]) == 0)
			return CDIT_UNCLEAR;
	if (strcmp(s, "0") == 0 || (*p >= '1' && *p <= '9' && p[strspn(p, "0123456789")] == '\0'))
		return CDIT_NUMBER;
	return number_like(s) || date_like(s) ? CDIT_UNCLEAR : CDIT_STRING;
}

bool
cdit_parse(struct cdit *t, enum cdi_format format, const char *text, size_t len, struct cdi_faults *f)
{
	*t = (struct cdit){ 0 };
	if (len > CDI_TEXT_MAX) {
		cdi_fault(f, CDI_INVALID, 0, 0, "", "is larger than %d bytes", CDI_TEXT_MAX);
		return false;
	}
	if (!text_is_utf8(text, len)) {
		cdi_fault(f, CDI_INVALID, 0, 0, "", "is not UTF-8 text");
		return false;
	}
	return format == CDI_JSON ? parse_json(t, text, len, f) : cdit_yaml(t, text, len, f);
}
