/* See report.h: rows by name, and what they count. */
#include "report.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

#define FURTHER "(further names)"

struct named {
	char *name;
};

static int
by_name(const void *a, const void *b)
{
	return strcmp(((const struct named *)a)->name, ((const struct named *)b)->name);
}

void *
named_find(void *const *tree, const char *name)
{
	const struct named key = { (char *)(uintptr_t)name };
	void *const *at = tfind(&key, tree, by_name);

	return at != NULL ? *at : NULL;
}

void *
named_add(void **tree, const char *name, size_t size)
{
	struct named *new = calloc(1, size);

	if (new == NULL || (new->name = strdup(name)) == NULL || tsearch(new, tree, by_name) == NULL) {
		if (new != NULL)
			free(new->name);
		free(new);
		return NULL;
	}
	return new;
}

void
named_remove(void **tree, const void *it)
{
	tdelete(it, tree, by_name);
}

struct row *
row_get(struct report *r, enum set of, const char *name)
{
	struct rows *s = &r->set[of];
	struct row *row = named_find(&s->tree, name);

	if (row == NULL && s->n >= NAMES_MAX)
		row = named_find(&s->tree, name = FURTHER);
	if (row != NULL)
		return row;
	if ((row = named_add(&s->tree, name, sizeof(*row))) == NULL) {
		r->nomem = true;
		return NULL;
	}
	row->next = s->first;
	s->first = row;
	s->n++;
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
rows_select(const struct rows *s, const enum count by[KEYS], struct row ***out)
{
	enum count key[KEYS];
	struct row *row;
	size_t n = 0;

	if ((*out = calloc(s->n + 1, sizeof(struct row *))) == NULL)
		return 0;
	for (row = s->first; row != NULL; row = row->next)
		if (row->n[ORDER] > 0 || row->n[by[0]] > 0 || row->n[by[1]] > 0 || row->n[by[2]] > 0)
			(*out)[n++] = row;
	memcpy(key, by, sizeof(key));
	qsort_r(*out, n, sizeof(**out), by_counts, key);
	return n;
}

static void
free_row(void *it)
{
	struct row *row = it;

	free(row->name);
	free(row->day);
	free(row);
}

void
rows_free(struct report *r)
{
	size_t i;

	for (i = 0; i < SETS; i++)
		tdestroy(r->set[i].tree, free_row);
}
