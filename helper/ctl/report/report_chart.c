/*
 * See report.h: the chart of GPU time by day, as SVG.  Widths are in percent and text sizes in pixels.  So it fits a
 * phone as well as a sheet of paper without a script, and its text has the same size on both.
 */
#include "report.h"

#include "../../base/cleanup.h"
#include "../../base/path.h"

#define COLUMNS_MAX 92
#define HEIGHT 200
#define TOP 12			/* pixels above the highest line of the grid */
#define BOTTOM 24		/* below the columns, for dates */
#define SVG "<svg xmlns=\"http://www.w3.org/2000/svg\" "

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

/* The distance between grid lines, in seconds: so that about four reach the highest column. */
static int64_t
line_step(int64_t highest)
{
	int64_t step = 360;
	int i;

	/* 0.1, 0.2, 0.5, 1, 2, 5 hours, and so on */
	for (i = 1; step * 4 < highest; i++)
		step = i % 3 == 2 ? step * 5 / 2 : step * 2;
	return step;
}

static double
height_of(int64_t seconds, int64_t top)
{
	return HEIGHT * (double)seconds / (double)top;
}

/* Adds the parts of a column, each with a tooltip. */
static void
add_parts(struct buf *b, const struct report *r, const struct row *day, double x, double wide, int64_t top)
{
	double y = TOP + HEIGHT, high;
	int k;

	for (k = 0; r->series[k] != NULL; k++) {
		if (day->n[PART + k] == 0)
			continue;
		y -= high = height_of(day->n[PART + k], top);
		html(b, "<rect class=\"s%d\" x=\"%f%%\" y=\"%f\" width=\"%f%%\" height=\"%f\">", k, x, y, wide, high);
		html(b, "<title>%s: %s %s h</title></rect>\n", day->name, as_short(r->series[k]), as_hours(day->n[PART + k]));
	}
}

/* Adds a column, and the line of the capacity above it.  Its place is x and wide, in percent. */
static void
add_column(struct buf *b, const struct report *r, const struct row *day, double x, double wide, int64_t top)
{
	const double gap = wide < 100 ? 0.16 : 0.6, y = TOP + HEIGHT - height_of(day->n[CAPACITY], top);

	/* this tooltip reacts to the full height, so that it also shows over a low column */
	html(b, "<g><title>%s: %s h</title><rect x=\"%f%%\" y=\"%d\" width=\"%f%%\" height=\"%d\" fill-opacity=\"0\"/>\n",
	    day->name, as_hours(day->n[SECONDS]), x, TOP, wide, HEIGHT);
	add_parts(b, r, day, x + wide * gap / 2, wide * (1 - gap), top);
	html(b, "</g>\n");
	if (r->filter == NULL)
		html(b, "<line class=\"cap\" x1=\"%f%%\" x2=\"%f%%\" y1=\"%f\" y2=\"%f\"/>\n", x, x + wide, y, y);
}

static void
add_grid(struct buf *b, int64_t step, int64_t top)
{
	int64_t at;
	double y;

	for (at = 0; at <= top; at += step) {
		y = TOP + HEIGHT - height_of(at, top) + 0.5;
		html(b, "<line class=\"grid\" x2=\"100%%\" y1=\"%f\" y2=\"%f\"/>", y, y);
	}
}

static void
add_scale(struct buf *b, int64_t step, int64_t top)
{
	int64_t at;

	html(b, SVG "width=\"56\" height=\"%d\" aria-hidden=\"true\">", TOP + HEIGHT + BOTTOM);
	for (at = 0; at <= top; at += step)
		html(b, "<text x=\"48\" y=\"%f\" text-anchor=\"end\">%s h</text>",
		    TOP + HEIGHT - height_of(at, top) + 4, as_hours(at));
	html(b, "</svg>");
}

static void
add_key(struct buf *b, const struct report *r)
{
	const int64_t gpus = (int64_t)r->set[GPUS].n;
	int k;

	html(b, "<ul class=\"key\">");
	for (k = 0; r->series[k] != NULL; k++) {
		html(b, "<li>" SVG "width=\"10\" height=\"10\" aria-hidden=\"true\">");
		html(b, "<rect class=\"s%d\" width=\"10\" height=\"10\" rx=\"2\"/></svg>", k);
		html(b, "<bdi>%s</bdi></li>", as_short(r->series[k]));
	}
	if (r->filter == NULL) {
		html(b, "<li>" SVG "width=\"16\" height=\"10\" aria-hidden=\"true\">");
		html(b, "<line class=\"cap\" x2=\"16\" y1=\"5\" y2=\"5\"/></svg>");
		html(b, "capacity of the %s GPU%s below</li>", as_count(gpus), gpus == 1 ? "" : "s");
	}
	html(b, "</ul>");
}

void
chart_days(struct buf *b, const struct report *r)
{
	const size_t n = r->set[DAYS].n;
	const struct row *day;
	const double wide = 100.0 / (double)n;
	int64_t highest = 0, step, top;
	size_t i;

	for (i = 0; i < n; i++) {
		day = r->set[DAYS].v[i];
		highest = day->n[SECONDS] > highest ? day->n[SECONDS] : highest;
		highest = day->n[CAPACITY] > highest ? day->n[CAPACITY] : highest;
	}
	step = line_step(highest);
	top = (highest + step - 1) / step * step;
	html(b, "<figure><div class=\"plot\">");
	add_scale(b, step, top);
	html(b, SVG "width=\"100%%\" height=\"%d\" role=\"img\" aria-labelledby=\"by-day-title by-day-desc\">"
	    "<title id=\"by-day-title\">GPU time by day</title><desc id=\"by-day-desc\">A column of GPU hours for each day "
	    "or group of days, stacked by pipeline, and a line for the hours that the GPUs had. The table below has the "
	    "same numbers.</desc>\n", TOP + HEIGHT + BOTTOM);
	add_grid(b, step, top);
	for (i = 0; i < n; i++)
		add_column(b, r, r->set[DAYS].v[i], wide * (double)i, wide, top);
	/* at most four dates, which so have room on a phone, too */
	for (i = 0; i < n && i <= n * 3 / 4; i += (n + 3) / 4) {
		day = r->set[DAYS].v[i];
		html(b, "<text x=\"%f%%\" y=\"%d\">%s</text>", wide * (double)i, TOP + HEIGHT + 18, day->name);
	}
	html(b, "</svg></div>");
	add_key(b, r);
	html(b, "</figure>\n");
}
