/*
 * See report.h: charts as SVG.  Widths are in percent and text sizes in pixels.  So a chart fits a phone as well as a
 * sheet of paper without a script, and its text has the same size on both.
 */
#include "report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BAR_ROW 38		/* pixels for a name, its bar and a margin */
#define BAR_NAME 34		/* characters of a name that fit on a phone */
#define PLOT_HEIGHT 200
#define PLOT_TOP 12
#define PLOT_BOTTOM 24
#define LABELS 4		/* dates below the columns */

static void
begin_chart(struct buf *b, const struct chart *c, const char *width, int height)
{
	buf_printf(b, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%s\" height=\"%d\" role=\"img\" "
	    "aria-labelledby=\"%s-title %s-desc\"><title id=\"%s-title\">", width, height, c->id, c->id, c->id);
	html_text(b, c->title);
	buf_printf(b, "</title><desc id=\"%s-desc\">", c->id);
	html_text(b, c->about);
	buf_puts(b, "</desc>\n");
}

static void
add_value(struct buf *b, enum chart_unit unit, int64_t value, int64_t whole)
{
	if (unit == CHART_COUNT)
		html_count(b, value);
	else if (unit == CHART_SHARE)
		html_share(b, value, whole);
	else {
		html_hours(b, value);
		buf_puts(b, " h");
	}
}

static void
add_bar(struct buf *b, enum chart_unit unit, const struct chart_bar *bar, int64_t whole, int y)
{
	const double part = whole > 0 ? (double)bar->value / (double)whole : 0, share = part > 1 ? 1 : part;

	buf_puts(b, "<g><title>");
	html_text(b, bar->name);
	buf_puts(b, ": ");
	add_value(b, unit, bar->value, whole);
	/* the inner svg clips a name that is too wide, so that it does not overlap the value */
	buf_printf(b, "</title><svg y=\"%d\" width=\"74%%\" height=\"20\"><text y=\"14\">", y);
	html_text_short(b, bar->name, BAR_NAME);
	buf_printf(b, "</text></svg><text x=\"100%%\" y=\"%d\" text-anchor=\"end\">", y + 14);
	add_value(b, unit, bar->value, whole);
	buf_printf(b, "</text><rect class=\"track\" y=\"%d\" width=\"100%%\" height=\"8\" rx=\"2\"/>", y + 20);
	if (share > 0)
		buf_printf(b, "<rect class=\"bar\" y=\"%d\" width=\"%.2f%%\" height=\"8\" rx=\"2\"/>", y + 20,
		    share < 0.003 ? 0.3 : 100 * share);
	buf_puts(b, "</g>\n");
}

void
chart_bars(struct buf *b, const struct chart *c, enum chart_unit unit, const struct chart_bar *bar, size_t n,
    int64_t whole)
{
	size_t i;

	for (i = 0; unit != CHART_SHARE && i < n; i++)
		whole = bar[i].value > whole ? bar[i].value : whole;
	buf_puts(b, "<figure>");
	begin_chart(b, c, "100%", (int)n * BAR_ROW);
	for (i = 0; i < n; i++)
		add_bar(b, unit, &bar[i], whole, (int)i * BAR_ROW);
	buf_puts(b, "</svg></figure>\n");
}

/*
 * The distance between grid lines: 1, 2 or 5 times a power of ten, so that about four lines reach the highest column.
 */
static double
line_step(double highest)
{
	double step = 1;

	if (highest <= 0)
		return 1;
	while (step * 4 < highest)
		step *= 10;
	while (step * 0.4 > highest)
		step /= 10;
	return step * 0.2 * 4 >= highest ? step * 0.2 : step * 0.5 * 4 >= highest ? step * 0.5 : step;
}

static double
height_of(double hours, double top)
{
	return hours / top * PLOT_HEIGHT;
}

static void
add_grid(struct buf *b, double step, double top)
{
	double at;

	for (at = 0; at <= top * 1.001; at += step)
		buf_printf(b, "<line class=\"grid\" x2=\"100%%\" y1=\"%.1f\" y2=\"%.1f\"/>", PLOT_TOP + PLOT_HEIGHT -
		    height_of(at, top) + 0.5, PLOT_TOP + PLOT_HEIGHT - height_of(at, top) + 0.5);
	buf_puts(b, "\n");
}

static void
add_scale(struct buf *b, double step, double top)
{
	double at;

	buf_printf(b, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"56\" height=\"%d\" aria-hidden=\"true\">",
	    PLOT_TOP + PLOT_HEIGHT + PLOT_BOTTOM);
	for (at = 0; at <= top * 1.001; at += step)
		buf_printf(b, "<text class=\"a\" x=\"48\" y=\"%.1f\" text-anchor=\"end\">%.6g h</text>", PLOT_TOP + PLOT_HEIGHT -
		    height_of(at, top) + 4, at);
	buf_puts(b, "</svg>");
}

/* Adds the tooltip of a column. */
static void
add_tooltip(struct buf *b, const struct chart_columns *columns, const struct chart_column *c)
{
	size_t i;

	buf_puts(b, "<title>");
	html_day(b, c->day * DAY_S);
	buf_printf(b, ": %.1f h", c->all);
	if (columns->capacity != NULL)
		buf_printf(b, " of %.1f h", c->capacity);
	for (i = 0; i < columns->series_n; i++)
		if (c->hours[i] > 0) {
			buf_puts(b, "\n");
			html_text_short(b, columns->series[i], BAR_NAME);
			buf_printf(b, " %.1f h", c->hours[i]);
		}
	buf_puts(b, "</title>");
}

static void
add_column(struct buf *b, const struct chart_columns *columns, size_t i, double top)
{
	const struct chart_column *c = &columns->v[i];
	const double wide = 100.0 / (double)columns->n, gap = columns->n > 1 ? 0.16 : 0.6;
	double y = PLOT_TOP + PLOT_HEIGHT, high, thin;
	size_t k;

	buf_puts(b, "<g>");
	add_tooltip(b, columns, c);
	for (k = 0; k < columns->series_n; k++) {
		if (c->hours[k] <= 0)
			continue;
		high = height_of(c->hours[k], top);
		y -= high;
		/* leave a gap of one pixel between two series */
		thin = high > 3 ? 1 : 0;
		buf_printf(b, "<rect class=\"s%zu\" x=\"%.3f%%\" y=\"%.2f\" width=\"%.3f%%\" height=\"%.2f\"/>", k,
		    wide * ((double)i + gap / 2), y + thin, wide * (1 - gap), high - thin);
	}
	/* the tooltip reacts to the full height, so that it also shows over a low column */
	buf_printf(b, "<rect x=\"%.3f%%\" y=\"%d\" width=\"%.3f%%\" height=\"%d\" fill-opacity=\"0\"/></g>\n",
	    wide * (double)i, PLOT_TOP, wide, PLOT_HEIGHT);
}

/* Adds the line of the capacity, a piece over each column: the first and the last one may be shorter than a day. */
static void
add_capacity(struct buf *b, const struct chart_columns *columns, double top)
{
	const double wide = 100.0 / (double)columns->n;
	double y;
	size_t i;

	for (i = 0; i < columns->n; i++) {
		y = PLOT_TOP + PLOT_HEIGHT - height_of(columns->v[i].capacity, top);
		buf_printf(b, "<line class=\"cap\" x1=\"%.3f%%\" x2=\"%.3f%%\" y1=\"%.2f\" y2=\"%.2f\"/>", wide * (double)i,
		    wide * (double)(i + 1), y, y);
	}
	buf_puts(b, "\n");
}

/* Adds a date as 24 Nov, or as Nov 2026 if the chart spans years. */
static void
add_day(struct buf *b, int64_t day, bool years)
{
	static const char *const months[] = { "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov",
		"Dec" };
	char text[32];

	text_time(day * DAY_S, text);
	if (!years)
		buf_printf(b, "%d ", atoi(text + 8));
	buf_puts(b, months[atoi(text + 5) - 1]);
	if (years)
		buf_printf(b, " %d", atoi(text));
}

static void
add_days(struct buf *b, const struct chart_columns *columns)
{
	const size_t n = columns->n < LABELS ? columns->n : LABELS;
	size_t i, at;

	for (i = 0; i < n; i++) {
		at = n > 1 ? i * (columns->n - 1) / (n - 1) : 0;
		buf_printf(b, "<text class=\"a\" x=\"%.2f%%\" y=\"%d\" text-anchor=\"%s\">", i == 0 && n > 1 ? 0 :
		    i == n - 1 && n > 1 ? 100 : 100.0 / (double)columns->n * ((double)at + 0.5), PLOT_TOP + PLOT_HEIGHT + 18,
		    i == 0 && n > 1 ? "start" : i == n - 1 && n > 1 ? "end" : "middle");
		add_day(b, columns->v[at].day, columns->n * (size_t)columns->days > 300);
		buf_puts(b, "</text>");
	}
}

static void
add_key(struct buf *b, const struct chart_columns *columns)
{
	size_t i;

	buf_puts(b, "<ul class=\"key\">");
	for (i = 0; i < columns->series_n; i++) {
		buf_printf(b, "<li><svg xmlns=\"http://www.w3.org/2000/svg\" width=\"10\" height=\"10\" aria-hidden=\"true\">"
		    "<rect class=\"s%zu\" width=\"10\" height=\"10\" rx=\"2\"/></svg><bdi>", i);
		html_text_short(b, columns->series[i], BAR_NAME);
		buf_puts(b, "</bdi></li>");
	}
	if (columns->capacity != NULL) {
		buf_puts(b, "<li><svg xmlns=\"http://www.w3.org/2000/svg\" width=\"16\" height=\"10\" aria-hidden=\"true\">"
		    "<line class=\"cap\" x2=\"16\" y1=\"5\" y2=\"5\"/></svg>");
		html_text(b, columns->capacity);
		buf_puts(b, "</li>");
	}
	buf_puts(b, "</ul>");
}

static double
max_of(double a, double b)
{
	return a > b ? a : b;
}

void
chart_columns(struct buf *b, const struct chart *c, const struct chart_columns *columns)
{
	double highest = 0, step, top;
	size_t i;

	for (i = 0; i < columns->n; i++)
		highest = max_of(max_of(highest, columns->v[i].all), columns->capacity != NULL ? columns->v[i].capacity : 0);
	step = line_step(highest);
	for (top = step; top < highest; top += step)
		;
	buf_puts(b, "<figure><div class=\"plot\">");
	add_scale(b, step, top);
	begin_chart(b, c, "100%", PLOT_TOP + PLOT_HEIGHT + PLOT_BOTTOM);
	add_grid(b, step, top);
	for (i = 0; i < columns->n; i++)
		add_column(b, columns, i, top);
	if (columns->capacity != NULL)
		add_capacity(b, columns, top);
	add_days(b, columns);
	buf_puts(b, "</svg></div>");
	add_key(b, columns);
	buf_puts(b, "</figure>\n");
}
