/* See report.h: the sections about GPU time by pipeline, by day and by GPU. */
#include "report.h"

#include <stdlib.h>
#include <string.h>

#include "../pure/cleanup.h"

#define BARS 10
#define ROWS 25
#define GPUS 64
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
add_numbers(struct buf *b, const struct report *r, int64_t seconds, size_t grants)
{
	buf_puts(b, "<td>");
	html_hours(b, seconds);
	buf_puts(b, "</td><td>");
	html_share(b, seconds, r->seconds);
	buf_puts(b, "</td><td>");
	html_count(b, (int64_t)grants);
	buf_puts(b, "</td>");
}

static void
add_held(struct buf *b, size_t held)
{
	if (held > 0)
		buf_printf(b, "<small>%zu held at the end</small>", held);
}

static void
add_pipelines(struct buf *b, const struct report *r, size_t n)
{
	static const char *const columns[] = { "Pipeline", "GPU hours", "Share", "Grants", NULL };
	const size_t shown = n < ROWS ? n : ROWS;
	const struct report_pipeline *p;
	size_t i, grants = 0;
	int64_t seconds = 0;

	html_table(b, "GPU time by pipeline", columns);
	for (i = 0; i < shown; i++) {
		p = r->pipelines.v[i];
		buf_puts(b, "<tr><th scope=\"row\"><bdi>");
		html_text(b, p->name);
		buf_puts(b, "</bdi>");
		add_held(b, p->held);
		buf_puts(b, "</th>");
		add_numbers(b, r, p->seconds, p->grants);
		buf_puts(b, "</tr>\n");
	}
	for (; i < n; i++) {
		p = r->pipelines.v[i];
		seconds += p->seconds;
		grants += p->grants;
	}
	if (shown < n) {
		html_more(b, n - shown);
		add_numbers(b, r, seconds, grants);
		buf_puts(b, "</tr>\n");
	}
	html_table_end(b);
}

/* By day */

bool
report_columns(const struct report *r, struct chart_columns *out)
{
	static const int64_t units[] = { 1, 7, 28, 91, 364 };
	const int64_t first = r->from / DAY_S, days = (r->to > r->from ? (r->to - 1) / DAY_S : first) - first + 1;
	const struct report_pipeline *p;
	struct chart_column *c;
	size_t i, k, d;

	for (i = 0; i < sizeof(units) / sizeof(units[0]) - 1 && (days + units[i] - 1) / units[i] > COLUMNS_MAX; i++)
		;
	out->days = units[i];
	out->n = (size_t)((days + out->days - 1) / out->days);
	if ((out->v = calloc(out->n, sizeof(*out->v))) == NULL)
		return false;
	for (i = 0; i < out->n; i++)
		out->v[i].day = first + (int64_t)i * out->days;
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
	return true;
}

static void
add_hours_cell(struct buf *b, double hours)
{
	buf_puts(b, "<td>");
	html_hours(b, (int64_t)(hours * 3600 + 0.5));
	buf_puts(b, "</td>");
}

static void
add_days_table(struct buf *b, const struct chart_columns *c)
{
	const char *columns[CHART_SERIES + 3] = { c->days == 1 ? "Day" : "From", "All" };
	size_t i, k;

	buf_puts(b, "<details><summary>The same numbers as a table, in GPU hours</summary>");
	memcpy(columns + 2, c->series, c->series_n * sizeof(*columns));
	html_table(b, "GPU hours by day and pipeline", columns);
	for (i = 0; i < c->n; i++) {
		buf_puts(b, "<tr><th scope=\"row\">");
		html_day(b, c->v[i].day * DAY_S);
		buf_puts(b, "</th>");
		add_hours_cell(b, c->v[i].all);
		for (k = 0; k < c->series_n; k++)
			add_hours_cell(b, c->v[i].hours[k]);
		buf_puts(b, "</tr>\n");
	}
	html_table_end(b);
	buf_puts(b, "</details>\n");
}

static void
add_by_day(struct buf *b, const struct report *r)
{
	static const struct chart chart = { "by-day", "GPU time by day",
		"A column of GPU hours for each day or group of days, stacked by pipeline. The table below has the same numbers." };
	struct chart_columns c = { 0 };

	if (!report_columns(r, &c)) {
		b->failed = true;
		return;
	}
	buf_puts(b, "<section><h2>GPU time by day</h2>\n<p class=\"soft\">");
	if (c.days == 1)
		buf_puts(b, "Days are in UTC.");
	else
		buf_printf(b, "Each column is %d days, beginning with the day below it. Days are in UTC.", (int)c.days);
	if (c.series_n == CHART_SERIES)
		buf_printf(b, " The %d pipelines with the most GPU time have their own colours.", TOP);
	buf_puts(b, "</p>\n");
	chart_columns(b, &chart, &c);
	add_days_table(b, &c);
	buf_puts(b, "</section>\n");
	free(c.v);
}

void
report_section_time(struct buf *b, const struct report *r)
{
	const size_t n = with_time(r);

	buf_puts(b, "<section><h2>GPU time by pipeline</h2>\n");
	if (n == 0) {
		buf_puts(b, "<p class=\"soft\">No GPU was held in this period.</p></section>\n");
		return;
	}
	buf_puts(b, "<p class=\"soft\">One GPU, or one part of a GPU (MIG), held for one hour is one GPU hour. A GPU that "
	    "several containers share counts for each of them.</p>\n");
	add_bars(b, r, n);
	add_pipelines(b, r, n);
	buf_puts(b, "</section>\n");
	add_by_day(b, r);
}

/* By GPU */

/* Adds a name like "nvidia 0000:3b:00.0 GPU-... part 1" without the UUID. */
static void
add_short_gpu(struct buf *b, const char *name)
{
	const char *uuid = strstr(name, " GPU-"), *part = strstr(name, " part ");

	if (uuid == NULL)
		buf_puts(b, name);
	else {
		buf_add(b, name, (size_t)(uuid - name));
		buf_puts(b, part != NULL ? part : "");
	}
}

static void
add_gpu_bars(struct buf *b, const struct report *r, size_t n)
{
	static const struct chart chart = { "by-gpu", "How busy each GPU was",
		"A bar for each GPU: the share of the period in which a container held it. The table below has the same numbers." };
	autofree struct chart_bar *bar = calloc(n, sizeof(*bar));
	autofree struct buf *text = calloc(2 * n, sizeof(*text));
	const struct report_gpu *g;
	size_t i;

	for (i = 0; bar != NULL && text != NULL && i < n; i++) {
		g = r->gpus.v[i];
		add_short_gpu(&text[2 * i], g->name);
		html_share(&text[2 * i + 1], g->busy, r->to - r->from);
		b->failed |= text[2 * i].failed || text[2 * i + 1].failed;
		bar[i] = (struct chart_bar){ text[2 * i].p, text[2 * i + 1].p, r->to > r->from ? (double)g->busy /
		    (double)(r->to - r->from) : 0 };
	}
	if (bar == NULL || text == NULL)
		b->failed = true;
	else if (!b->failed)
		chart_bars(b, &chart, bar, n);
	for (i = 0; text != NULL && i < 2 * n; i++)
		buf_free(&text[i]);
}

static void
add_gpu_row(struct buf *b, const struct report *r, const struct report_gpu *g)
{
	buf_puts(b, "<tr><th scope=\"row\"><bdi>");
	html_text(b, g->name);
	buf_puts(b, "</bdi></th><td>");
	html_share(b, g->busy, r->to - r->from);
	buf_puts(b, "</td><td>");
	html_hours(b, g->busy);
	buf_puts(b, "</td><td>");
	html_hours(b, g->seconds);
	buf_puts(b, "</td><td>");
	html_count(b, (int64_t)g->grants);
	buf_puts(b, "</td></tr>\n");
}

void
report_section_gpus(struct buf *b, const struct report *r)
{
	static const char *const columns[] = { "GPU", "Held", "Hours held", "GPU hours", "Times granted", NULL };
	const size_t shown = r->gpus.n < GPUS ? r->gpus.n : GPUS;
	size_t i;

	if (r->gpus.n == 0)
		return;
	buf_puts(b, "<section><h2>How busy each GPU was</h2>\n<p class=\"soft\">The share of the period in which a container "
	    "held it. GPUs and parts that no record names are not listed.</p>\n");
	add_gpu_bars(b, r, shown);
	html_table(b, "GPUs", columns);
	for (i = 0; i < shown; i++)
		add_gpu_row(b, r, r->gpus.v[i]);
	if (shown < r->gpus.n) {
		html_more(b, r->gpus.n - shown);
		buf_puts(b, "<td></td><td></td><td></td><td></td></tr>\n");
	}
	html_table_end(b);
	buf_puts(b, "</section>\n");
}
