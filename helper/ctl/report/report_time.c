/* See report.h: the sections about GPU time by pipeline and by day. */
#include "report.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../base/cleanup.h"

#define BARS 10
#define ROWS 25
#define TOP (CHART_SERIES - 1)
#define COLUMNS_MAX 92

/* How many pipelines held a GPU; they come first, as the list is sorted. */
static size_t
with_time(const struct report *r)
{
	size_t n;

	for (n = 0; n < r->pipelines.n && ((struct report_pipeline *)r->pipelines.v[n])->seconds > 0; n++)
		;
	return n;
}

/* By pipeline */

static void
add_bars(struct buf *b, const struct report *r, size_t n)
{
	static const struct chart chart = { "by-pipeline", "GPU time by pipeline",
		"A bar for each pipeline, the longest first. The table below has the same numbers." };
	struct chart_bar bar[BARS];
	const struct report_pipeline *p;
	size_t i;

	n = n < BARS ? n : BARS;
	for (i = 0; i < n; i++) {
		p = r->pipelines.v[i];
		bar[i] = (struct chart_bar){ p->name, p->seconds };
	}
	chart_bars(b, &chart, CHART_HOURS, bar, n, 0);
}

static void
add_held(struct buf *b, const void *row)
{
	const struct report_pipeline *p = row;

	if (p->held > 0)
		buf_printf(b, "%zu held at the end", p->held);
}

static void
add_pipelines(struct buf *b, const struct report *r, size_t n)
{
	static const struct table_column columns[] = {
		{ "GPU hours", CELL_HOURS, offsetof(struct report_pipeline, seconds) },
		{ "Share", CELL_SHARE, offsetof(struct report_pipeline, seconds) },
		{ "Grants", CELL_COUNT, offsetof(struct report_pipeline, grants) },
	};
	const struct table table = { "GPU time by pipeline", "Pipeline", TABLE_COLUMNS(columns), r->seconds, NULL, add_held };
	struct report_pipeline rest = { .grants = 0 };
	const struct report_pipeline *p;
	size_t i;

	for (i = ROWS; i < n; i++) {
		p = r->pipelines.v[i];
		rest.seconds += p->seconds;
		rest.grants += p->grants;
	}
	table_add(b, &table, (const void *const *)r->pipelines.v, n, ROWS, &rest);
}

void
report_pipelines(struct buf *b, struct report *r)
{
	const size_t n = with_time(r);

	if (n == 0) {
		buf_puts(b, "<p class=\"soft\">No GPU was held in this period.</p>\n");
		return;
	}
	buf_puts(b, "<p class=\"soft\">One GPU, or one part of a GPU (MIG), held for one hour is one GPU hour. A GPU that "
	    "several containers share counts for each of them.</p>\n");
	add_bars(b, r, n);
	add_pipelines(b, r, n);
}

/* By day */

/* The seconds of the period that are in this column. */
static int64_t
seconds_of(const struct report *r, const struct chart_columns *columns, size_t i)
{
	const int64_t begin = columns->v[i].day * DAY_S, end = begin + columns->days * DAY_S;

	return (end < r->to ? end : r->to) - (begin > r->from ? begin : r->from);
}

static void
fill_columns(const struct report *r, int64_t first, struct chart_columns *out)
{
	const struct report_pipeline *p;
	struct chart_column *c;
	size_t i, k, d;

	for (i = 0; i < r->pipelines.n; i++) {
		p = r->pipelines.v[i];
		k = i < TOP ? i : TOP;
		if (p->seconds > 0) {
			out->series[k] = k < TOP ? p->name : "others";
			out->series_n = k + 1;
		}
		for (d = 0; d < p->days; d++) {
			c = &out->v[(p->first_day + (int64_t)d - first) / out->days];
			c->hours[k] += (double)p->day[d] / 3600;
			c->all += (double)p->day[d] / 3600;
		}
	}
}

bool
report_columns(const struct report *r, struct chart_columns *out)
{
	static const int64_t units[] = { 1, 7, 28, 91, 364 };
	const int64_t first = r->from / DAY_S, days = (r->to > r->from ? (r->to - 1) / DAY_S : first) - first + 1;
	size_t i;

	for (i = 0; i < sizeof(units) / sizeof(units[0]) - 1 && (days + units[i] - 1) / units[i] > COLUMNS_MAX; i++)
		;
	out->days = units[i];
	out->n = (size_t)((days + out->days - 1) / out->days);
	if ((out->v = calloc(out->n, sizeof(*out->v))) == NULL)
		return false;
	for (i = 0; i < out->n; i++) {
		out->v[i].day = first + (int64_t)i * out->days;
		out->v[i].capacity = (double)seconds_of(r, out, i) * (double)r->gpus.n / 3600;
	}
	fill_columns(r, first, out);
	return true;
}

static void
add_day(struct buf *b, const void *row)
{
	html_day(b, ((const struct chart_column *)row)->day * DAY_S);
}

static void
add_days_table(struct buf *b, const struct chart_columns *c)
{
	struct table_column columns[CHART_SERIES + 1] = { { "All", CELL_PARTS, offsetof(struct chart_column, all) } };
	const struct table table = { .caption = "GPU hours by day and pipeline", .names = c->days == 1 ? "Day" : "From",
		.column = columns, .columns = c->series_n + 1, .name = add_day };
	autofree const void **row = calloc(c->n, sizeof(*row));
	size_t i;

	for (i = 0; i < c->series_n; i++)
		columns[i + 1] = (struct table_column){ c->series[i], CELL_PARTS,
			offsetof(struct chart_column, hours) + i * sizeof(c->v->hours[0]) };
	for (i = 0; row != NULL && i < c->n; i++)
		row[i] = &c->v[i];
	buf_puts(b, "<details><summary>The same numbers as a table, in GPU hours</summary>");
	if (row != NULL)
		table_add(b, &table, row, c->n, c->n, NULL);
	buf_puts(b, "</details>\n");
	b->failed |= row == NULL;
}

bool
report_has_days(const struct report *r)
{
	return with_time(r) > 0;
}

void
report_days(struct buf *b, struct report *r)
{
	static const struct chart chart = { "by-day", "GPU time by day",
		"A column of GPU hours for each day or group of days, stacked by pipeline, and a line for the hours that the GPUs "
		"had. The table below has the same numbers." };
	struct chart_columns c = { 0 };
	char capacity[96];

	if (!report_columns(r, &c)) {
		b->failed = true;
		return;
	}
	buf_puts(b, "<p class=\"soft\">");
	if (c.days == 1)
		buf_puts(b, "Days are in UTC.");
	else
		buf_printf(b, "Each column is %d days, beginning with the day below it. Days are in UTC.", (int)c.days);
	if (c.series_n == CHART_SERIES)
		buf_printf(b, " The %d pipelines with the most GPU time have their own colours.", TOP);
	/* with a filter, the other pipelines' GPUs are not counted */
	if (r->filter == NULL) {
		snprintf(capacity, sizeof(capacity), "capacity of the %zu GPU%s below", r->gpus.n, r->gpus.n == 1 ? "" : "s");
		c.capacity = capacity;
	}
	buf_puts(b, "</p>\n");
	chart_columns(b, &chart, &c);
	add_days_table(b, &c);
	free(c.v);
}
