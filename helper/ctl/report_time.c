/* See report.h: the sections about GPU time by pipeline and by day. */
#include "report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
	struct chart_bar bar[BARS] = { 0 };
	struct buf value[BARS] = { 0 };
	const struct report_pipeline *p, *first = r->pipelines.v[0];
	size_t i;

	n = n < BARS ? n : BARS;
	for (i = 0; i < n; i++) {
		p = r->pipelines.v[i];
		html_hours(&value[i], p->seconds);
		buf_puts(&value[i], " h");
		b->failed |= value[i].failed;
		bar[i] = (struct chart_bar){ p->name, value[i].p, (double)p->seconds / (double)first->seconds };
	}
	if (!b->failed)
		chart_bars(b, &chart, bar, n);
	for (i = 0; i < n; i++)
		buf_free(&value[i]);
}

static void
add_numbers(struct table *t, const struct report *r, int64_t seconds, size_t grants)
{
	table_hours(t, seconds);
	table_share(t, seconds, r->seconds);
	table_count(t, grants);
}

static void
add_pipelines(struct buf *b, const struct report *r, size_t n)
{
	static const char *const columns[] = { "Pipeline", "GPU hours", "Share", "Grants", NULL };
	const size_t shown = n < ROWS ? n : ROWS;
	const struct report_pipeline *p;
	struct table t;
	char held[48];
	size_t i, grants = 0;
	int64_t seconds = 0;

	table_begin(&t, b, "GPU time by pipeline", columns);
	for (i = 0; i < shown; i++) {
		p = r->pipelines.v[i];
		snprintf(held, sizeof(held), "%zu held at the end", p->held);
		table_row(&t, p->name, p->held > 0 ? held : NULL);
		add_numbers(&t, r, p->seconds, p->grants);
	}
	for (; i < n; i++) {
		p = r->pipelines.v[i];
		seconds += p->seconds;
		grants += p->grants;
	}
	if (shown < n) {
		table_more(&t, n - shown);
		add_numbers(&t, r, seconds, grants);
	}
	table_end(&t);
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

static int64_t
to_seconds(double hours)
{
	return (int64_t)(hours * 3600 + 0.5);
}

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
add_days_table(struct buf *b, const struct chart_columns *c)
{
	const char *columns[CHART_SERIES + 3] = { c->days == 1 ? "Day" : "From", "All" };
	struct buf day = { 0 };
	struct table t;
	size_t i, k;

	buf_puts(b, "<details><summary>The same numbers as a table, in GPU hours</summary>");
	memcpy(columns + 2, c->series, c->series_n * sizeof(*columns));
	table_begin(&t, b, "GPU hours by day and pipeline", columns);
	for (i = 0; i < c->n; i++) {
		day.len = 0;
		html_day(&day, c->v[i].day * DAY_S);
		table_row(&t, day.failed ? "" : day.p, NULL);
		table_hours(&t, to_seconds(c->v[i].all));
		for (k = 0; k < c->series_n; k++)
			table_hours(&t, to_seconds(c->v[i].hours[k]));
	}
	table_end(&t);
	buf_puts(b, "</details>\n");
	b->failed |= day.failed;
	buf_free(&day);
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
