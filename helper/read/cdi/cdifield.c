/*
 * Reads single values from the tree of a CDI spec: strings, numbers, lists and the members of objects. A
 * wrong value is reported with its place. May assume nothing of the tree but its form (cditree.h).
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../base/textnear.h"
#include "cdiread.h"

void
cdi_invalid(struct cdi_reading *r, uint32_t n, const char *fmt, ...)
{
	const struct cdit_node *node = &r->t->node[n];
	char text[sizeof(r->f->v->text)];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	cdi_fault(r->f, CDI_INVALID, node->line, node->column, r->path, "%s", text);
}

/* Appends a member or an element to the path. cdi_leave() with the returned value removes it again. */
size_t
cdi_enter(struct cdi_reading *r, const char *fmt, ...)
{
	size_t before = r->len;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(r->path + r->len, sizeof(r->path) - r->len, fmt, ap);
	va_end(ap);
	if (n > 0)
		r->len = r->len + (size_t)n < sizeof(r->path) ? r->len + (size_t)n : sizeof(r->path) - 1;
	return before;
}

void
cdi_leave(struct cdi_reading *r, size_t before)
{
	r->len = before;
	r->path[before] = '\0';
}

/* False, with a fault, if the value is of another kind. */
bool
cdi_is(struct cdi_reading *r, uint32_t n, enum cdit_kind kind)
{
	static const char *const names[] = { [CDIT_OBJECT] = "an object", [CDIT_ARRAY] = "a list",
		[CDIT_STRING] = "a string", [CDIT_NUMBER] = "a whole number", [CDIT_BOOL] = "true or false" };
	const struct cdit_node *v = &r->t->node[n];

	if (v->kind == kind || (kind == CDIT_STRING && v->same_text))
		return true;
	if (v->kind == CDIT_UNCLEAR)
		cdi_invalid(r, n, "\"%.40s\" without quotes is not the same to every YAML reader: write text in quotes, a number in "
		    "plain decimal, and true or false", v->text);
	else if (v->kind == CDIT_NULL)
		cdi_invalid(r, n, "has no value: must be %s, or be left out", names[kind]);
	else if (kind == CDIT_STRING && (v->kind == CDIT_NUMBER || v->kind == CDIT_BOOL))
		cdi_invalid(r, n, "must be a string: write \"%.40s\" in quotes", v->text);
	else
		cdi_invalid(r, n, "must be %s", names[kind]);
	return false;
}

static void
refuse_unknown_field(struct cdi_reading *r, uint32_t key, const struct cdi_field *fields)
{
	const char *names[CDI_FIELDS_MAX + 1], *text = r->t->node[key].text, *near;
	size_t i;

	for (i = 0; i < CDI_FIELDS_MAX && fields[i].name != NULL; i++)
		names[i] = fields[i].name;
	names[i] = NULL;
	for (i = 0; names[i] != NULL; i++)
		if (strcasecmp(names[i], text) == 0) {
			cdi_invalid(r, key, "unknown key \"%.60s\": it is written \"%s\"", text, names[i]);
			return;
		}
	if ((near = text_nearest(text, names)) != NULL)
		cdi_invalid(r, key, "unknown key \"%.60s\"; did you mean \"%s\"?", text, near);
	else
		cdi_invalid(r, key, "unknown key \"%.60s\"", text);
}

/* Reads the members of an object. Each must be known and appear once. False if the value is not an object. */
bool
cdi_read_fields(struct cdi_reading *r, uint32_t n, const struct cdi_field *fields, void *base)
{
	const struct cdit_node *v = r->t->node;
	bool seen[CDI_FIELDS_MAX] = { false };
	size_t before, i;
	uint32_t k;

	if (!cdi_is(r, n, CDIT_OBJECT))
		return false;
	for (k = v[n].child; k != CDIT_NONE; k = v[k].next) {
		for (i = 0; fields[i].name != NULL && strcmp(fields[i].name, v[k].text) != 0; i++)
			continue;
		if (fields[i].name == NULL) {
			refuse_unknown_field(r, k, fields);
			continue;
		}
		before = cdi_enter(r, "%s%s", r->len > 0 ? "." : "", fields[i].name);
		if (seen[i])
			cdi_invalid(r, k, "appears twice in one object");
		else
			fields[i].read(r, v[k].child, (char *)base + fields[i].offset);
		seen[i] = true;
		cdi_leave(r, before);
	}
	for (i = 0; fields[i].name != NULL; i++)
		if (fields[i].required && !seen[i])
			cdi_invalid(r, n, "has no %s", fields[i].name);
	return true;
}

bool
cdi_copy_string(struct cdi_reading *r, uint32_t n, char **out)
{
	if (!cdi_is(r, n, CDIT_STRING))
		return false;
	if ((*out = strdup(r->t->node[n].text)) == NULL) {
		r->f->starved = true;
		return false;
	}
	cdi_check_text(r, n, *out);
	return true;
}

void
cdi_read_string(struct cdi_reading *r, uint32_t n, void *out)
{
	cdi_copy_string(r, n, out);
}

void
cdi_read_full_string(struct cdi_reading *r, uint32_t n, void *out)
{
	if (cdi_copy_string(r, n, out) && **(char **)out == '\0')
		cdi_invalid(r, n, "is empty");
}

bool
cdi_read_i64_in(struct cdi_reading *r, uint32_t n, int64_t min, int64_t max, int64_t *out)
{
	const char *s = r->t->node[n].text;
	bool minus;
	int64_t v = 0;

	if (!cdi_is(r, n, CDIT_NUMBER))
		return false;
	minus = *s == '-';
	for (s += minus; *s >= '0' && *s <= '9'; s++)
		if (__builtin_mul_overflow(v, 10, &v) ||
		    (minus ? __builtin_sub_overflow(v, *s - '0', &v) : __builtin_add_overflow(v, *s - '0', &v)))
			break;
	if (*s == '.' || *s == 'e' || *s == 'E') {
		cdi_invalid(r, n, "must be a whole number, written as one");
		return false;
	}
	if (*s != '\0' || v < min || v > max) {
		cdi_invalid(r, n, "is out of range: %lld to %lld", (long long)min, (long long)max);
		return false;
	}
	*out = v;
	return true;
}

void
cdi_read_i64(struct cdi_reading *r, uint32_t n, void *out)
{
	struct cdi_i64 *v = out;

	v->set = cdi_read_i64_in(r, n, INT64_MIN, INT64_MAX, &v->v);
}

void
cdi_read_u32(struct cdi_reading *r, uint32_t n, void *out)
{
	struct cdi_u32 *u = out;
	int64_t v;

	if ((u->set = cdi_read_i64_in(r, n, 0, UINT32_MAX, &v)))
		u->v = (uint32_t)v;
}

/* Reads a list of strings. Calls «check» (may be NULL) for each. */
void
cdi_read_list(struct cdi_reading *r, uint32_t n, struct strlist *out, void (*check)(struct cdi_reading *, uint32_t,
    const char *))
{
	const struct cdit_node *v = r->t->node;
	unsigned i = 0;
	size_t before;
	uint32_t k;

	if (!cdi_is(r, n, CDIT_ARRAY))
		return;
	for (k = v[n].child; k != CDIT_NONE; k = v[k].next) {
		before = cdi_enter(r, "[%u]", i++);
		if (cdi_is(r, k, CDIT_STRING)) {
			if (!strlist_add(out, v[k].text, SIZE_MAX))
				r->f->starved = true;
			cdi_check_text(r, k, v[k].text);
			if (check != NULL)
				check(r, k, v[k].text);
		}
		cdi_leave(r, before);
	}
}

void
cdi_read_strings(struct cdi_reading *r, uint32_t n, void *out)
{
	cdi_read_list(r, n, out, NULL);
}

/* Allocates the elements of a list of objects, which the caller frees, and calls «each» to read each one. */
void *
cdi_read_objects(struct cdi_reading *r, uint32_t n, size_t size, size_t *count, void (*each)(struct cdi_reading *,
    uint32_t, void *))
{
	const struct cdit_node *v = r->t->node;
	size_t before, i = 0;
	char *list;
	uint32_t k;

	if (!cdi_is(r, n, CDIT_ARRAY) || v[n].count == 0)
		return NULL;
	if ((list = calloc(v[n].count, size)) == NULL) {
		r->f->starved = true;
		return NULL;
	}
	*count = v[n].count;
	for (k = v[n].child; k != CDIT_NONE; k = v[k].next, i++) {
		before = cdi_enter(r, "[%zu]", i);
		each(r, k, list + i * size);
		cdi_leave(r, before);
	}
	return list;
}
