/* See cditree.h. Anyone may have written the text. Must bound depth, number and size before anything else. */
#include "cditree.h"

#include <stdlib.h>
#include <string.h>

#include "../../base/text.h"

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

/* True for numbers of YAML 1.1 (yaml.org/type/int.html and float.html), except dates. */
static bool
number_like(const char *s)
{
	const char *digits, *base;

	if (*s == '+' || *s == '-')
		s += 1 + strspn(s + 1, "_");	/* go-yaml ignores every «_» of a number */
	if (strcmp(s, ".inf") == 0 || strcmp(s, ".Inf") == 0 || strcmp(s, ".INF") == 0 || strcmp(s, ".nan") == 0 ||
	    strcmp(s, ".NaN") == 0 || strcmp(s, ".NAN") == 0)
		return true;
	base = *s == '0' ? s + 1 + strspn(s + 1, "_") : "";
	if (*base != '\0' && strchr("xXoObB", *base) != NULL)
		return base[1] != '\0' && base[1 + strspn(base + 1, "0123456789abcdefABCDEF_")] == '\0';
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
		if (!(*s >= '0' && *s <= '9') && *s != '_')
			return false;
		s += strspn(s, "0123456789_");
	}
	return *s == '\0';
}

/* True for a date, 2026-01-02, with or without a time (yaml.org/type/timestamp.html). */
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

/* A whole number in plain decimal that fits into 63 bits: Go prints it as it is written. */
static bool
is_plain_number(const char *s)
{
	uint64_t n;

	s += *s == '-' && s[1] != '0';
	return text_u64(s, INT64_MAX, &n);
}

/*
 * A number with a point, which Go reads as a float and prints with as few digits as tell it from other floats of 32
 * bits: the same digits, if there are at most six, none at the end is 0, and the number is not below 0.0001.
 */
static bool
is_plain_fraction(const char *s)
{
	const char *point, *first, *last;
	size_t before, after;

	s += *s == '-';
	before = strspn(s, "0123456789");
	point = s + before;
	if (before == 0 || (*s == '0' && before > 1) || *point != '.')
		return false;
	after = strspn(point + 1, "0123456789");
	last = point + after;
	if (after == 0 || last[1] != '\0' || *last == '0')
		return false;
	if (*s != '0')
		return before + after <= 6;
	first = point + 1 + strspn(point + 1, "0");
	return first - point <= 4 && last - first < 6;
}

bool
cdit_same_text(const char *text)
{
	if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0 || strcmp(text, "=") == 0)
		return true;
	/* numbers of base 60, and dates: only other readers than Go's take them for anything else than text */
	if (number_like(text) && strchr(text, ':') != NULL)
		return true;
	return date_like(text) || is_plain_number(text) || is_plain_fraction(text);
}
