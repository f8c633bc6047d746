/* See report.h: rows by name, and what they count. */
#include "report.h"

#include <stdlib.h>
#include <string.h>

#define FURTHER "(further names)"

struct named {
	char *name;
};

/* Where the name is in the list, or would be. */
static size_t
place_of(const struct names *s, const char *name)
{
	size_t low = 0, high = s->n, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (strcmp(((struct named *)s->v[middle])->name, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void *
names_find(const struct names *s, const char *name)
{
	const size_t at = place_of(s, name);

	return at < s->n && strcmp(((struct named *)s->v[at])->name, name) == 0 ? s->v[at] : NULL;
}

void *
names_add(struct names *s, const char *name, size_t size)
{
	const size_t at = place_of(s, name);
	const bool full = (s->n & (s->n - 1)) == 0;	/* at each power of two, where the room doubles */
	void **more = full ? reallocarray(s->v, s->n > 0 ? 2 * s->n : 1, sizeof(*more)) : s->v;
	struct named *new = calloc(1, size);

	if (more != NULL)
		s->v = more;
	if (more == NULL || new == NULL || (new->name = strdup(name)) == NULL) {
		free(new);
		return NULL;
	}
	memmove(more + at + 1, more + at, (s->n++ - at) * sizeof(*more));
	return more[at] = new;
}

void
names_remove(struct names *s, const char *name)
{
	const size_t at = place_of(s, name);

	memmove(s->v + at, s->v + at + 1, (--s->n - at) * sizeof(*s->v));
}

struct row *
row_get(struct report *r, enum set of, const char *name)
{
	struct row *row = names_find(&r->set[of], name);

	if (row == NULL && r->set[of].n >= NAMES_MAX)
		row = names_find(&r->set[of], name = FURTHER);
	if (row == NULL && (row = names_add(&r->set[of], name, sizeof(*row))) == NULL)
		r->nomem = true;
	return row;
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

/* The row's seconds of this day, which is one of its last as a rule.  NULL: out of memory. */
static int64_t *
seconds_of_day(struct row *row, int64_t day)
{
	struct row_day *more;
	size_t i;

	for (i = row->days; i > 0 && row->day[i - 1].day > day; i--)
		;
	if (i > 0 && row->day[i - 1].day == day)
		return &row->day[i - 1].seconds;
	if ((more = reallocarray(row->day, row->days + 1, sizeof(*more))) == NULL)
		return NULL;
	row->day = more;
	memmove(more + i + 1, more + i, (row->days++ - i) * sizeof(*more));
	more[i] = (struct row_day){ .day = day };
	return &more[i].seconds;
}

bool
row_add_days(struct row *row, int64_t from, int64_t to, int64_t gpus)
{
	int64_t end, *seconds;

	for (; row != NULL && from < to; from = end) {
		end = (from / DAY_S + 1) * DAY_S < to ? (from / DAY_S + 1) * DAY_S : to;
		if ((seconds = seconds_of_day(row, from / DAY_S)) == NULL)
			return false;
		*seconds += (end - from) * gpus;
	}
	return true;
}

static int
by_counts(const void *a, const void *b, void *by)
{
	const struct row *x = *(void *const *)a, *y = *(void *const *)b;
	const enum count *key = by;
	size_t i;

	if (x->n[ORDER] != y->n[ORDER])
		return x->n[ORDER] < y->n[ORDER] ? 1 : -1;
	for (i = 0; i < KEYS; i++)
		if (x->n[key[i]] != y->n[key[i]])
			return x->n[key[i]] < y->n[key[i]] ? 1 : -1;
	return strcmp(x->name, y->name);
}

size_t
rows_select(const struct names *s, const enum count by[KEYS], struct row ***out)
{
	enum count key[KEYS];
	struct row *row;
	size_t i, n = 0;

	if ((*out = calloc(s->n + 1, sizeof(struct row *))) == NULL)
		return 0;
	for (i = 0; i < s->n; i++) {
		row = s->v[i];
		if (row->n[ORDER] > 0 || row->n[by[0]] > 0 || row->n[by[1]] > 0 || row->n[by[2]] > 0)
			(*out)[n++] = row;
	}
	memcpy(key, by, sizeof(key));
	qsort_r(*out, n, sizeof(**out), by_counts, key);
	return n;
}
