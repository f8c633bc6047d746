/*
 * See report_parts.h: the chart of GPU time by day, as SVG.  Widths are in percent and text sizes in pixels.  So it
 * fits a phone as well as a sheet of paper without a script, and its text has the same size on both.
 */
#include "report_parts.h"

#include "../../base/cleanup.h"
#include "../../base/path.h"

#define COLUMNS_MAX 92
#define HEIGHT 200		/* of the highest line of the grid, in pixels */
#define BASE (HEIGHT + 12)	/* where the columns begin, from above */
#define DATES 24		/* below them */

_Static_assert(SERIES <= AUDIT_KINDS, "a row has a number for each series");

/* The rows, whose names are also in the order of their days. */
void
report_make_days(struct report *r)
{
	const int64_t first = r->since / DAY_S, last = (r->until - 1) / DAY_S;
	autofree struct row **pipeline = NULL;
	const size_t n = rows_select(&r->set[PIPELINES], (enum count [KEYS]){ SECONDS }, &pipeline);
	const struct moment *used;
	int64_t day, begin, end;
	struct row *row;
	char name[32];
	size_t i;

	for (i = 0; i < n; i++) {
		pipeline[i]->series = i < SERIES - 1 ? i : SERIES - 1;
		r->series[pipeline[i]->series] = i < SERIES - 1 ? pipeline[i]->name : "others";
	}
	for (r->days_each = 1; last - first >= r->days_each * COLUMNS_MAX; r->days_each *= r->days_each == 1 ? 7 : 4)
		;
	for (day = first; day <= last; day += r->days_each) {
		text_time(day * DAY_S, name);
		/* the first and the last day may be shorter than others; a filter hides GPUs of other pipelines */
		begin = day * DAY_S > r->since ? day * DAY_S : r->since;
		end = (day + r->days_each) * DAY_S < r->until ? (day + r->days_each) * DAY_S : r->until;
		row = row_get(r, DAYS, "%.10s", name);
		row_count(row, ORDER, last - day + 1);
		row_count(row, CAPACITY, r->filter == NULL ? (int64_t)r->set[GPUS].n * (end - begin) : 0);
	}
	for (i = 0; i < r->set[USED].n && pipeline != NULL && !r->nomem; i++) {
		used = r->set[USED].v[i];
		row = r->set[DAYS].v[(used->at / DAY_S - first) / r->days_each];
		row->n[SECONDS] += used->seconds;
		row->n[PART + used->pipeline->series] += used->seconds;
	}
	r->nomem |= pipeline == NULL;
}

/* The chart */

/*
 * Adds a column, and the line of the capacity above it.  Its place is x and wide, in percent; a second has «scale»
 * pixels.  Its tooltip reacts to the full height, so that it also shows over a low column.
 */
static void
add_column(struct buf *b, const struct report *r, const struct row *day, double x, double wide, double scale)
{
	const double gap = wide < 100 ? 0.16 : 0.6, capacity = BASE - scale * (double)day->n[CAPACITY];
	double y = BASE, high;
	int k;

	html(b, "<g><title>%s: %s h", day->name, as_hours(day->n[SECONDS]));
	for (k = 0; r->series[k] != NULL; k++)
		if (day->n[PART + k] > 0)
			html(b, "\n%s: %s h", as_short(r->series[k]), as_hours(day->n[PART + k]));
	html(b, "</title><rect x=\"%f%%\" y=\"%d\" width=\"%f%%\" height=\"%d\" fill-opacity=\"0\"/>\n", x, BASE - HEIGHT,
	    wide, HEIGHT);
	for (k = 0; r->series[k] != NULL; k++)
		if (day->n[PART + k] > 0) {
			y -= high = scale * (double)day->n[PART + k];
			html(b, "<rect class=\"s%d\" x=\"%f%%\" y=\"%f\" width=\"%f%%\" height=\"%f\"/>\n", k, x + wide * gap / 2,
			    y, wide * (1 - gap), high);
		}
	html(b, "</g>\n");
	if (r->filter == NULL)
		html(b, "<line class=\"cap\" x1=\"%f%%\" x2=\"%f%%\" y1=\"%f\" y2=\"%f\"/>\n", x, x + wide, capacity, capacity);
}

void
chart_days(struct buf *b, const struct report *r)
{
	const size_t n = r->set[DAYS].n;
	const double wide = 100.0 / (double)n;
	int64_t highest = 0, step = 360;
	int i, lines, every = ((int)n + 3) / 4;
	const struct row *day;
	double y;

	for (i = 0; i < (int)n; i++) {
		day = r->set[DAYS].v[i];
		highest = day->n[SECONDS] > highest ? day->n[SECONDS] : highest;
		highest = day->n[CAPACITY] > highest ? day->n[CAPACITY] : highest;
	}
	/* about four lines reach the highest column: one each 0.1, 0.2, 0.5, 1, 2, 5 hours, and so on */
	for (i = 1; step * 4 < highest; i++)
		step = i % 3 == 2 ? step * 5 / 2 : step * 2;
	lines = (int)((highest + step - 1) / step);
	html(b, "<figure><svg class=\"chart\" xmlns=\"http://www.w3.org/2000/svg\" height=\"%d\" role=\"img\" "
	    "aria-labelledby=\"by-day-title by-day-desc\"><title id=\"by-day-title\">GPU time by day</title>"
	    "<desc id=\"by-day-desc\">A column of GPU hours for each day or group of days, stacked by pipeline, and a line "
	    "for the hours that the GPUs had. The table below has the same numbers.</desc>\n", BASE + DATES);
	for (i = 0; i <= lines; i++) {
		y = BASE - HEIGHT * (double)i / lines;
		html(b, "<line class=\"grid\" x2=\"100%%\" y1=\"%f\" y2=\"%f\"/>", y + 0.5, y + 0.5);
		html(b, "<text class=\"scale\" x=\"-8\" y=\"%f\">%s h</text>\n", y + 4, as_hours(i * step));
	}
	for (i = 0; i < (int)n; i++) {
		day = r->set[DAYS].v[i];
		add_column(b, r, day, wide * i, wide, HEIGHT / (double)(lines * step));
		/* at most four dates, which so have room on a phone, too */
		if (i % every == 0 && i <= (int)n * 3 / 4)
			html(b, "<text x=\"%f%%\" y=\"%d\">%s</text>\n", wide * i, BASE + 18, day->name);
	}
	html(b, "</svg><ul class=\"key\">");
	for (i = 0; r->series[i] != NULL; i++)
		html(b, "<li class=\"s%d\"><bdi>%s</bdi></li>", i, as_short(r->series[i]));
	if (r->filter == NULL)
		html(b, "<li class=\"cap\">capacity of the %s GPU%s below</li>", as_count((int64_t)r->set[GPUS].n),
		    r->set[GPUS].n == 1 ? "" : "s");
	html(b, "</ul></figure>\n");
}
