/* See report.h: the section about waits. */
#include "report.h"

#include <stdlib.h>
#include <string.h>

#include "../pure/cleanup.h"

#define ROWS 25

static int
by_waited(const void *a, const void *b)
{
	const struct report_pipeline *x = *(void *const *)a, *y = *(void *const *)b;

	if (x->waited != y->waited)
		return x->waited < y->waited ? 1 : -1;
	if (x->abandoned != y->abandoned)
		return x->abandoned < y->abandoned ? 1 : -1;
	return strcmp(x->name, y->name);
}

static void
add_pipelines(struct buf *b, const struct report_pipeline *const *p, size_t n)
{
	static const char *const columns[] = { "Pipeline", "Grants that waited", "Mean wait", "Longest wait", "Total",
		"Abandoned waits", NULL };
	const size_t shown = n < ROWS ? n : ROWS;
	struct table t;
	size_t i;

	table_begin(&t, b, "Waits by pipeline, the longest total first", columns);
	for (i = 0; i < shown; i++) {
		table_row(&t, p[i]->name, NULL);
		table_count(&t, p[i]->waits);
		table_duration(&t, p[i]->waits > 0 ? p[i]->waited / (int64_t)p[i]->waits : 0);
		table_duration(&t, p[i]->longest);
		table_duration(&t, p[i]->waited);
		table_count(&t, p[i]->abandoned);
	}
	if (shown < n)
		table_more(&t, n - shown);
	table_end(&t);
}

static void
add_table(struct buf *b, const struct report *r)
{
	autofree const struct report_pipeline **waited = calloc(r->pipelines.n + 1, sizeof(*waited));
	const struct report_pipeline *p;
	size_t i, n = 0;

	if (waited == NULL) {
		b->failed = true;
		return;
	}
	for (i = 0; i < r->pipelines.n; i++) {
		p = r->pipelines.v[i];
		if (p->waits > 0 || p->abandoned > 0)
			waited[n++] = p;
	}
	if (n == 0)
		return;
	qsort(waited, n, sizeof(*waited), by_waited);
	add_pipelines(b, waited, n);
}

static void
add_granted(struct buf *b, const struct report *r, size_t waits)
{
	if (waits == 0) {
		buf_puts(b, "<p class=\"soft\">No grant in this period waited for a GPU.</p>\n");
		return;
	}
	buf_puts(b, "<p class=\"soft\">");
	html_count(b, (int64_t)waits);
	buf_puts(b, waits == 1 ? " grant waited for a GPU for a second or longer, " :
	    " grants waited for a GPU for a second or longer, ");
	html_duration(b, r->waited / (int64_t)waits);
	buf_puts(b, " on average. A container or task that got no GPU in time is a denial (busy). The pipeline with the "
	    "longest total wait comes first.</p>\n");
}

static void
add_abandoned(struct buf *b, const struct report *r)
{
	if (r->abandoned == 0)
		return;
	buf_puts(b, "<p class=\"soft\">");
	html_count(b, (int64_t)r->abandoned);
	buf_puts(b, r->abandoned == 1 ? " wait was abandoned before its turn, after " :
	    " waits were abandoned before their turn, after ");
	html_duration(b, r->waited_in_vain / (int64_t)r->abandoned);
	buf_puts(b, r->abandoned == 1 ? ".</p>\n" : " on average.</p>\n");
}

void
report_waiting(struct buf *b, struct report *r)
{
	static const struct chart chart = { "waits-chart", "Grants by how long they waited",
		"A bar for each range of waiting times, with the number of grants that waited so long." };
	const char *name[WAITS];
	size_t i, waits = 0;

	for (i = 0; i < WAITS; i++) {
		name[i] = report_waits[i].name;
		waits += r->waits[i];
	}
	add_granted(b, r, waits);
	add_abandoned(b, r);
	if (waits > 0)
		chart_counts(b, &chart, name, r->waits, WAITS);
	add_table(b, r);
}
