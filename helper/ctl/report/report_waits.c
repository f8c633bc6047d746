/* See report.h: the section about waits. */
#include "report.h"

#include <stddef.h>
#include <stdlib.h>

#include "../../base/cleanup.h"

#define ROWS 25

static int
by_waited(const void *a, const void *b)
{
	const struct report_pipeline *x = *(void *const *)a, *y = *(void *const *)b;

	return report_order((int64_t [2]){ x->waited, (int64_t)x->abandoned }, x->name,
	    (int64_t [2]){ y->waited, (int64_t)y->abandoned }, y->name);
}

static void
add_table(struct buf *b, const struct report *r)
{
	static const struct table_column columns[] = {
		{ "Grants that waited", CELL_COUNT, offsetof(struct report_pipeline, waits) },
		{ "Mean wait", CELL_DURATION, offsetof(struct report_pipeline, mean) },
		{ "Longest wait", CELL_DURATION, offsetof(struct report_pipeline, longest) },
		{ "Total", CELL_DURATION, offsetof(struct report_pipeline, waited) },
		{ "Abandoned waits", CELL_COUNT, offsetof(struct report_pipeline, abandoned) },
	};
	static const struct table table = { .caption = "Waits by pipeline, the longest total first", .names = "Pipeline",
		.column = columns, .columns = 5 };
	autofree const void **waited = calloc(r->pipelines.n + 1, sizeof(*waited));
	struct report_pipeline *p;
	size_t i, n = 0;

	if (waited == NULL) {
		b->failed = true;
		return;
	}
	for (i = 0; i < r->pipelines.n; i++) {
		p = r->pipelines.v[i];
		p->mean = p->waits > 0 ? p->waited / (int64_t)p->waits : 0;
		if (p->waits > 0 || p->abandoned > 0)
			waited[n++] = p;
	}
	if (n == 0)
		return;
	qsort(waited, n, sizeof(*waited), by_waited);
	table_add(b, &table, waited, n, ROWS, NULL);
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
	struct chart_bar bar[WAITS];
	size_t i, waits = 0;

	for (i = 0; i < WAITS; i++) {
		bar[i] = (struct chart_bar){ report_waits[i].name, (int64_t)r->waits[i] };
		waits += r->waits[i];
	}
	add_granted(b, r, waits);
	add_abandoned(b, r);
	if (waits > 0)
		chart_bars(b, &chart, CHART_COUNT, bar, WAITS, 0);
	add_table(b, r);
}
