/* See report_parts.h: rows by name, and what they count. */
#include "report_parts.h"

#include <stdlib.h>
#include <string.h>

#include "../../base/cleanup.h"
#include "../ctl.h"

#define NAMES_MAX 20000

/* Where the name is in the list, or would be. */
static size_t
index_of(const struct names *s, const char *name)
{
	size_t low = 0, high = s->n, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (strcmp(*(char **)s->v[middle], name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void *
names_get(struct report *r, enum set of, const char *name, size_t size)
{
	struct names *s = &r->set[of];
	const size_t at = index_of(s, name);
	void **more = s->v;
	char **new;

	if (size == 0 || (at < s->n && strcmp(*(char **)s->v[at], name) == 0))
		return at < s->n && strcmp(*(char **)s->v[at], name) == 0 ? s->v[at] : NULL;
	/* at each power of two, the room doubles */
	if ((s->n & (s->n - 1)) == 0 && (more = reallocarray(s->v, 2 * s->n + 1, sizeof(*more))) != NULL)
		s->v = more;
	new = calloc(1, size);
	if (more == NULL || new == NULL || (*new = strdup(name)) == NULL) {
		r->nomem = true;
		free(new);
		return NULL;
	}
	memmove(more + at + 1, more + at, (s->n++ - at) * sizeof(*more));
	return more[at] = new;
}

static void
free_named(void *named)
{
	free(*(char **)named);
	free(named);
}

void
names_remove(struct report *r, enum set of, const char *name)
{
	struct names *s = &r->set[of];
	const size_t at = index_of(s, name);

	free_named(s->v[at]);
	memmove(s->v + at, s->v + at + 1, (--s->n - at) * sizeof(*s->v));
}

void
report_free(struct report *r)
{
	struct names *s;

	for (s = r->set; s < r->set + LISTS; s++) {
		while (s->n > 0)
			free_named(s->v[--s->n]);
		free(s->v);
	}
}

struct row *
row_get(struct report *r, enum set of, const char *format, ...)
{
	const size_t size = r->set[of].n < NAMES_MAX ? sizeof(struct row) : 0;
	autofree char *name = NULL;
	struct row *row;
	va_list ap;

	va_start(ap, format);
	name = format_text(format, ap);
	va_end(ap);
	r->nomem |= name == NULL;
	row = name != NULL ? names_get(r, of, name, size) : NULL;
	return row != NULL || size > 0 ? row : names_get(r, of, "(further names)", sizeof(*row));
}

void
row_count(struct row *row, enum count c, int64_t n)
{
	if (row == NULL)
		return;
	if (c != LONGEST && c != LAST)
		row->n[c] += n;
	else if (n > row->n[c])
		row->n[c] = n;
}

static int
by_counts(const void *a, const void *b, void *by)
{
	const struct row *x = *(void *const *)a, *y = *(void *const *)b;
	const enum count *key = by;
	size_t i;

	for (i = 0; i <= KEYS; i++)
		if (x->n[key[i]] != y->n[key[i]])
			return x->n[key[i]] < y->n[key[i]] ? 1 : -1;
	return strcmp(x->name, y->name);
}

size_t
rows_select(const struct names *s, const enum count by[KEYS], struct row ***out)
{
	enum count key[KEYS + 1] = { ORDER, by[0], by[1], by[2] };
	struct row *row;
	size_t i, n = 0;

	if ((*out = calloc(s->n + 1, sizeof(struct row *))) == NULL)
		return 0;
	for (i = 0; i < s->n; i++) {
		row = s->v[i];
		if (row->n[ORDER] > 0 || row->n[by[0]] > 0 || row->n[by[1]] > 0 || row->n[by[2]] > 0)
			(*out)[n++] = row;
	}
	qsort_r(*out, n, sizeof(**out), by_counts, key);
	return n;
}
