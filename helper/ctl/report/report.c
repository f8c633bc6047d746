/*
 * gpuhelperctl report: writes an HTML page about who used the GPUs and who was denied them, from the audit log.  Reads
 * with its caller's rights.  The page has no scripts, pictures or fonts, and a Content-Security-Policy that forbids
 * them.  Text that others chose comes into the page only through html().
 */
#include "report.h"

#include <nettle/base64.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../../base/cleanup.h"
#include "../../base/path.h"
#include "../../base/pathshort.h"
#include "../../base/sha256.h"
#include "../audit/auditfilter.h"
#include "../ctl.h"
#include "../when.h"

/* A name, cut in the middle where it would be too long. */
#define NAME_SHOWN 40		/* bytes */
#define as_short(name) path_short(name, (char [NAME_SHOWN]){ 0 }, NAME_SHOWN)

#define VALUE_SIZE 400		/* of a cell: all kinds of denials, and their numbers */
#define REASON_SHOWN 160
#define ROWS 25			/* of a table, before «12 more» */
#define COLUMNS (SERIES + 1)	/* of a table: at most all, and each series */
#define HEIGHT 200		/* of the chart, up to the highest line of the grid, in pixels */
#define BASE (HEIGHT + 12)	/* where the chart's columns begin, from above */
#define DATES 24		/* below them */

/* How a number is shown. */
enum form {
	COUNT,			/* 1,234,567 */
	HOURS,			/* of seconds: 12.3 */
	DURATION,		/* of seconds: 2 h 5 min, or 38 s */
	TIME,			/* seconds since 1970: 2026-11-20 23:06 */
	SHARE,			/* of a whole: 12.3 % */
	/* in tables alone: */
	MEAN,			/* of seconds, by WAITS */
	OVER,			/* by how many percentage points the row's share of SECONDS exceeds this share */
	KINDS,			/* denials by kind: «policy 7, busy 2» */
	REASON,			/* the row's last reason */
};

/* A section of the page: a heading, texts, and a table, in which a bar stands below each row's name. */
struct section {
	const char *id, *title;	/* without an id, it belongs to the section before it */
	const char *none;	/* what stands here if the table has no rows; NULL: nothing, not even a heading */
	const char *says;	/* what stands above the table; NULL: nothing */
	void (*add)(struct buf *b, const struct report *r);	/* adds more above the table; NULL: nothing */
	const char *folded;	/* what stands in the place of the table until it is unfolded; NULL: it is not folded */
	const char *caption;	/* NULL: the title */
	const char *names;	/* the name of the first column, which has the rows' names; NULL: there is no table */
	enum set of;
	enum count by[KEYS];	/* sorts the rows; a bar shows the first one */
	struct column {
		const char *name;	/* "": that of a series, if there is one; the table lacks it else */
		enum form form;
		enum count of;
	} column[COLUMNS + 1];	/* NULL is the name after the last */
};

/* A number as text, in a buffer that lives as long as the block around. */
#define as(form, n) number_text(form, n, 0, (char [VALUE_SIZE]){ 0 })
#define as_share(n, whole) number_text(SHARE, n, whole, (char [VALUE_SIZE]){ 0 })

#define SOFT(text) "<p class=\"soft\">" text "</p>\n"
#define TILE(name, more) "<div><dt>" name "</dt><dd class=\"n\">%s</dd>" more "</div>\n"
#define MORE(text) "<dd class=\"m\">" text "</dd>"

/* Text and numbers */

static void
add_escaped(struct buf *b, const char *text)
{
	autofree char *safe = printable(text);
	const char *s;

	b->failed |= safe == NULL;
	for (s = safe; s != NULL && *s != '\0'; s++)
		if (strchr("&<>\"'", *s) != NULL)
			buf_printf(b, "&#%d;", *s);
		else if (strncmp(s, "\xef\xbf\xbe", 3) == 0 || strncmp(s, "\xef\xbf\xbf", 3) == 0) {
			/* U+FFFE and U+FFFF are valid UTF-8, but not allowed in XML */
			buf_puts(b, "?");
			s += 2;
		} else
			buf_add(b, s, 1);
}

/*
 * Appends like printf(3), but knows only %s, %d, %f (with two decimal places) and %%.  Text (%s) becomes valid UTF-8
 * without control and direction characters, escaped for HTML, attributes and SVG.
 */
static void __attribute__((format(printf, 2, 3)))
html(struct buf *b, const char *format, ...)
{
	const char *s;
	va_list ap;

	va_start(ap, format);
	for (s = format; *s != '\0'; s++)
		if (*s != '%')
			buf_add(b, s, 1);
		else if (*++s == 's')
			add_escaped(b, va_arg(ap, const char *));
		else if (*s == 'd')
			buf_printf(b, "%d", va_arg(ap, int));
		else if (*s == 'f')
			buf_printf(b, "%.2f", va_arg(ap, double));
		else
			buf_puts(b, "%");
	va_end(ap);
}

/* A part of a whole as percentage; 0 of nothing. */
static double
percent(int64_t part, int64_t whole)
{
	return whole > 0 ? 100.0 * (double)part / (double)whole : 0;
}

/* Writes a number as text to «out», and returns the text.  «whole» is for SHARE. */
static const char *
number_text(enum form form, int64_t n, int64_t whole, char out[VALUE_SIZE])
{
	const int64_t tenths = (n + 180) / 360;		/* of an hour */
	const long long s = n;
	char time[32];

	if (form == HOURS && n > 0 && tenths == 0)
		return "<0.1";
	if (form == SHARE && n > 0 && percent(n, whole) < 0.05)
		return "<0.1 %";
	if (form == HOURS)
		snprintf(out, VALUE_SIZE, "%s.%d", as(COUNT, tenths / 10), (int)(tenths % 10));
	else if (form == SHARE)
		snprintf(out, VALUE_SIZE, "%.1f %%", percent(n, whole));
	else if (form == TIME) {
		text_time(n, time);
		snprintf(out, VALUE_SIZE, "%.10s %.5s", time, time + 11);
	} else if (form == COUNT && s < 1000)
		snprintf(out, VALUE_SIZE, "%lld", s);
	else if (form == COUNT)
		snprintf(out, VALUE_SIZE, "%s,%03lld", as(COUNT, s / 1000), s % 1000);
	else if (s < 60)
		snprintf(out, VALUE_SIZE, "%lld s", s);
	else if (s < 3600)
		snprintf(out, VALUE_SIZE, "%lld min %lld s", s / 60, s % 60);
	else if (s < 2 * DAY_S)
		snprintf(out, VALUE_SIZE, "%lld h %lld min", s / 3600, s % 3600 / 60);
	else
		snprintf(out, VALUE_SIZE, "%lld d %lld h", s / DAY_S, s % DAY_S / 3600);
	return out;
}

/* The head of the page */

/* The style sheet, report.css.  The Makefile makes the object. */
extern const char report_style[];

/* Adds the style sheet, and the policy that lets a browser take only this one, by its hash. */
static void
add_style(struct buf *b)
{
	char hash[BASE64_ENCODE_RAW_LENGTH(SHA256_BYTES) + 1] = "";
	uint8_t digest[SHA256_BYTES];
	struct sha256 s;

	sha256_begin(&s);
	sha256_add(&s, report_style, strlen(report_style));
	sha256_end(&s, digest);
	base64_encode_raw(hash, sizeof(digest), digest);
	html(b, "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'sha256-%s'; "
	    "base-uri 'none'; form-action 'none'\">\n<style>", hash);
	buf_puts(b, report_style);
	html(b, "</style>\n");
}

/* Adds the beginning of the page: its style, its title, what it is about, and the sums. */
static void
add_head(struct buf *b, const struct report *r, bool own)
{
	const int64_t *all = r->total.n, gpus = (int64_t)r->set[GPUS].n;
	int64_t granted = 0, denied = 0;
	const struct row *p;
	size_t i;
	char host[256] = "this host", title[sizeof(host) + 16] = "GPU use";

	(void)gethostname(host, sizeof(host) - 1);
	if (own)
		snprintf(title, sizeof(title), "GPU use on %s", host);
	html(b, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
	add_style(b);
	html(b, "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	    "<meta name=\"referrer\" content=\"no-referrer\">\n<title>%s</title>\n</head>\n<body>\n<main>\n"
	    "<header>\n<h1>%s</h1>\n", title, title);
	if (r->since == 0)
		html(b, "<p>No records</p>\n");
	else
		html(b, "<p>%s to %s UTC</p>\n", as(TIME, r->since), as(TIME, r->until));
	if (r->filter != NULL)
		html(b, "<p>Only <bdi>%s</bdi></p>\n", r->filter);
	html(b, "<p class=\"soft\">Made %s UTC on <bdi>%s</bdi> from %s: %s record%s in this period, in %s file%s",
	    as(TIME, time(NULL)), host, own ? "its audit log" : "named audit logs", as(COUNT, all[RECORDS]),
	    S_OF(all[RECORDS]), as(COUNT, all[FILES]), S_OF(all[FILES]));
	if (all[TORN] > 0)
		html(b, ", and %s line%s no valid record%s", as(COUNT, all[TORN]),
		    all[TORN] == 1 ? " that is" : "s that are", S_OF(all[TORN]));
	html(b, ".</p>\n");
	/* other names begin with a bracket: «(user root)» */
	for (i = 0; i < r->set[PIPELINES].n; i++) {
		p = r->set[PIPELINES].v[i];
		granted += p->name[0] != '(' && (p->n[GRANTS] > 0 || p->n[SECONDS] > 0);
		denied += p->name[0] != '(' && p->n[DENIALS] > 0;
	}
	html(b, "<dl>\n" TILE("GPU hours", ""), as(HOURS, all[SECONDS]));
	html(b, TILE("Held", MORE("of the time, on average over %s GPU%s")),
	    as_share(all[BUSY], (r->until - r->since) * gpus), as(COUNT, gpus), S_OF(gpus));
	html(b, TILE("Grants", "") TILE("Denials", ""), as(COUNT, all[GRANTS]), as(COUNT, all[DENIALS]));
	html(b, TILE("Pipelines", MORE("%s with denials")), as(COUNT, granted), as(COUNT, denied));
	html(b, TILE("Longest wait", MORE("%s abandoned wait%s")) "</dl>\n", as(DURATION, all[LONGEST]),
	    as(COUNT, all[ABANDONED]), S_OF(all[ABANDONED]));
}

/* Tables */

static const char *
value_of(const struct column *c, const struct row *row, const struct row *all, char out[VALUE_SIZE])
{
	const double over = percent(row->n[SECONDS], all->n[SECONDS]) - percent(row->n[c->of], all->n[c->of]);
	size_t i, len = 0;
	int64_t n = row->n[c->of];

	switch (c->form) {
	case MEAN:
		return number_text(DURATION, row->n[WAITS] > 0 ? n / row->n[WAITS] : 0, 0, out);
	case OVER:
		snprintf(out, VALUE_SIZE, over > -0.05 && over < 0.05 ? "0.0" : "%+.1f", over);
		return out;
	case KINDS:
		/* the most frequent first */
		for (out[0] = '\0'; n > 0; n--)
			for (i = 0; i < AUDIT_KINDS; i++)
				if (row->n[PART + i] == n && len < VALUE_SIZE)
					len += (size_t)snprintf(out + len, VALUE_SIZE - len, "%s%s %s",
					    len > 0 ? ", " : "", audit_kinds[i].name, as(COUNT, n));
		return out;
	case REASON:
		return path_short(row->reason, out, REASON_SHOWN);
	default:
		return number_text(c->form, n, all->n[c->of], out);
	}
}

/*
 * Adds the cells of a row but the first; row NULL: the names of the columns.  Each cell carries its column's name,
 * which the style sheet shows on a narrow screen, where a row is a small list.
 */
static void
add_cells(struct buf *b, const struct report *r, const struct section *s, const struct row *row, const struct row *all)
{
	const struct column *c;
	const char *name, *class;
	char text[VALUE_SIZE];

	for (c = s->column; c->name != NULL; c++) {
		name = *c->name == '\0' && c->of >= PART ? r->series[c->of - PART] : c->name;
		/* words begin at the left, numbers end at the right */
		class = c->form < KINDS ? "n" : "t";
		if (name == NULL || (c->of == PARTS && r->no_shares != NULL))
			continue;
		if (row == NULL)
			html(b, "<th scope=\"col\" class=\"%s\"><bdi>%s</bdi></th>", class, as_short(name));
		else
			html(b, "<td class=\"%s\" data-c=\"%s\"><bdi>%s</bdi></td>", class, as_short(name),
			    value_of(c, row, all, text));
	}
	html(b, "</tr>\n");
}

/* Adds the table of the section with its first n rows, of which it may show fewer. */
static void
add_table(struct buf *b, const struct report *r, const struct section *s, size_t n)
{
	struct row *const *row = (struct row *const *)r->set[s->of].v;
	const size_t key = s->by[0], most = s->of == INSTANCES ? 2 * ROWS : ROWS;
	const char *caption = s->caption != NULL ? s->caption : s->title;
	struct row all = { .n = { 0 } }, rest = all;
	int64_t widest = 0;
	double wide;
	size_t i, k, shown;
	char *name;

	html(b, "<div class=\"scroll\" role=\"region\" aria-label=\"%s\" tabindex=\"0\"><table><caption>%s</caption>"
	    "<thead><tr><th scope=\"col\">%s</th>", caption, caption, s->names);
	add_cells(b, r, s, NULL, &all);
	html(b, "</thead><tbody>\n");
	for (shown = 0; shown < n && (shown < most || row[shown]->n[ORDER] > 0); shown++)
		widest = row[shown]->n[key] > widest ? row[shown]->n[key] : widest;
	for (i = 0; i < n; i++)
		for (k = 0; k < COUNTS; k++) {
			row_count(&all, (enum count)k, row[i]->n[k]);
			row_count(&rest, (enum count)k, i < shown ? 0 : row[i]->n[k]);
		}
	/* a GPU can be busy for the whole period */
	all.n[BUSY] = r->until - r->since;
	for (i = 0; i < shown; i++) {
		wide = percent(row[i]->n[key], key == BUSY ? all.n[BUSY] : widest);
		name = row[i]->name;
		html(b, "<tr><th scope=\"row\"><bdi>%s</bdi>", strsep(&name, "\n"));
		if (name != NULL)
			html(b, "<small>%s</small>", name);
		html(b, "<svg class=\"bar\" aria-hidden=\"true\"><rect width=\"%f%%\" height=\"100%%\"/></svg></th>",
		    wide > 0 && wide < 0.3 ? 0.3 : wide);
		add_cells(b, r, s, row[i], &all);
	}
	if (shown < n) {
		html(b, "<tr class=\"more\"><th scope=\"row\"><bdi>%s more</bdi></th>", as(COUNT, (int64_t)(n - shown)));
		add_cells(b, r, s, &rest, &all);
	}
	html(b, "</tbody></table></div>\n");
}

/* The chart */

/*
 * Adds a column, and the line of the capacity above it.  Its place is x and wide, in percent; a second has «scale»
 * pixels.  Its tooltip reacts to the full height, so that it also shows over a low column.
 */
static void
add_column(struct buf *b, const struct report *r, const struct row *day, double x, double wide, double scale)
{
	const double gap = wide < 100 ? 0.16 : 0.6, top = BASE - scale * (double)day->n[CAPACITY];
	double y = BASE, high;
	int k;

	html(b, "<g><title>%s: %s h", day->name, as(HOURS, day->n[SECONDS]));
	for (k = 0; r->series[k] != NULL; k++)
		if (day->n[PART + k] > 0)
			html(b, "\n%s: %s h", as_short(r->series[k]), as(HOURS, day->n[PART + k]));
	html(b, "</title><rect x=\"%f%%\" y=\"%d\" width=\"%f%%\" height=\"%d\" fill-opacity=\"0\"/>\n", x,
	    BASE - HEIGHT, wide, HEIGHT);
	for (k = 0; r->series[k] != NULL; k++)
		if (day->n[PART + k] > 0) {
			y -= high = scale * (double)day->n[PART + k];
			html(b, "<rect class=\"s%d\" x=\"%f%%\" y=\"%f\" width=\"%f%%\" height=\"%f\"/>\n", k,
			    x + wide * gap / 2, y, wide * (1 - gap), high);
		}
	html(b, "</g>\n");
	if (r->filter == NULL)
		html(b, "<line class=\"cap\" x1=\"%f%%\" x2=\"%f%%\" y1=\"%f\" y2=\"%f\"/>\n", x, x + wide, top, top);
}

/*
 * Adds the chart of GPU time by day, as SVG.  Widths are in percent and text sizes in pixels.  So it fits a phone as
 * well as a sheet of paper without a script, and its text has the same size on both.
 */
static void
add_days(struct buf *b, const struct report *r)
{
	const int n = (int)r->set[DAYS].n, every = (n + 3) / 4;
	const double wide = 100.0 / n;
	const int64_t gpus = (int64_t)r->set[GPUS].n;
	int64_t highest = 0, step = 360;
	int i, lines;
	const struct row *day;
	double y;

	for (i = 0; i < n; i++) {
		day = r->set[DAYS].v[i];
		highest = day->n[SECONDS] > highest ? day->n[SECONDS] : highest;
		highest = day->n[CAPACITY] > highest ? day->n[CAPACITY] : highest;
	}
	/* about four lines reach the highest column: one each 0.1, 0.2, 0.5, 1, 2, 5 hours, and so on */
	for (i = 1; step * 4 < highest; i++)
		step = i % 3 == 2 ? step * 5 / 2 : step * 2;
	lines = (int)((highest + step - 1) / step);
	html(b, "<p class=\"soft\">Days are in UTC.");
	if (r->days_each > 1)
		html(b, " Each column is %d days, beginning with the day that it is named after.", (int)r->days_each);
	if (r->series[SERIES - 1] != NULL)
		html(b, " The %d pipelines with the most GPU time have their own colours.", SERIES - 1);
	html(b, "</p>\n<figure><svg class=\"chart\" xmlns=\"http://www.w3.org/2000/svg\" height=\"%d\" role=\"img\" "
	    "aria-labelledby=\"by-day-title by-day-desc\"><title id=\"by-day-title\">GPU time by day</title>"
	    "<desc id=\"by-day-desc\">A column of GPU hours for each day or group of days, stacked by pipeline, and a "
	    "line for the hours that the GPUs had. The table below has the same numbers.</desc>\n", BASE + DATES);
	for (i = 0; i <= lines; i++) {
		y = BASE - HEIGHT * (double)i / lines;
		html(b, "<line class=\"grid\" x2=\"100%%\" y1=\"%f\" y2=\"%f\"/>", y + 0.5, y + 0.5);
		html(b, "<text class=\"scale\" x=\"-8\" y=\"%f\">%s h</text>\n", y + 4, as(HOURS, i * step));
	}
	for (i = 0; i < n; i++) {
		day = r->set[DAYS].v[i];
		add_column(b, r, day, wide * i, wide, HEIGHT / (double)(lines * step));
		/* at most four dates, which so have room on a phone, too */
		if (i % every == 0 && i <= n * 3 / 4)
			html(b, "<text x=\"%f%%\" y=\"%d\">%s</text>\n", wide * i, BASE + 18, day->name);
	}
	html(b, "</svg><ul class=\"key\">");
	for (i = 0; r->series[i] != NULL; i++)
		html(b, "<li class=\"s%d\"><bdi>%s</bdi></li>", i, as_short(r->series[i]));
	if (r->filter == NULL)
		html(b, "<li class=\"cap\">capacity of the %s GPU%s below</li>", as(COUNT, gpus), S_OF(gpus));
	html(b, "</ul></figure>\n");
}

/* Sections */

static void
add_shares(struct buf *b, const struct report *r)
{
	html(b, SOFT("%s Waits that ended with a grant or were abandoned are added up; a denial records no time."),
	    r->no_shares != NULL ? r->no_shares : "The share is that of team_shares in gpuhelper.conf, among these "
	    "teams; one without an entry has 1 part. Only teams that wait claim their share: while nobody else waits, "
	    "a team may hold more.");
}

static void
add_waits(struct buf *b, const struct report *r)
{
	const int64_t *all = r->total.n, vain = all[ABANDONED];

	if (all[WAITS] > 0)
		html(b, SOFT("%s grant%s waited for a GPU for a second or longer, %s on average. A container or task "
		    "that got no GPU in time is a denial (busy)."), as(COUNT, all[WAITS]), S_OF(all[WAITS]),
		    as(DURATION, all[WAITED] / all[WAITS]));
	if (vain > 0)
		html(b, SOFT("%s wait%s abandoned before %s turn, after %s on average."), as(COUNT, vain),
		    vain == 1 ? " was" : "s were", vain == 1 ? "its" : "their",
		    as(DURATION, (all[WAITED_IN_ALL] - all[WAITED]) / vain));
}

/* Notes of what was counted in an unusual way: «2 ends have no record of their grant» */
static const struct note {
	enum count of;
	const char *noun, *one, *many, *rest;
} notes[] = {
	{ HELD, "container", "held", "held", "GPUs at the end of the period: the time until then counts" },
	{ AGAIN, "time", "a container", "a container", "regained GPUs that it had given back: no further grant" },
	{ UNDONE, "grant", "was", "were", "undone, as the container was not created" },
	{ FOLDERS_ONLY, "grant", "was", "were", "of folders only" },
	{ CUT_BY_BOOT, "container", "held", "held", "GPUs when the host was rebooted: the time until then counts" },
	{ REPLACED, "grant", "has no record of its", "have no record of their",
	    "end: the time until the same container's next grant counts" },
	{ ORPHANS, "end", "has no record of its", "have no record of their", "grant: the time before does not count" },
	{ LEFT_OUT, "record", "was", "were", "left out of the log, as a user's quota of records was used up" },
	{ TORN, "line", "of the log is no valid record", "of the log are no valid records",
	    "(cut off by a full disk, or changed later)" },
	{ DAMAGED, "file", "can't be read to its", "can't be read to their", "end" },
};

static void
add_notes(struct buf *b, const struct report *r)
{
	int64_t n;
	size_t i;

	html(b, "<ul class=\"notes\">\n<li>A container holds its GPUs from the record of the grant to the record of "
	    "its end, of its undoing, or of giving them back. Only time within the period counts.</li>\n");
	for (i = 0; i < sizeof(notes) / sizeof(notes[0]); i++)
		if ((n = r->total.n[notes[i].of]) > 0)
			buf_printf(b, "<li>%s %s%s %s %s.</li>\n", as(COUNT, n), notes[i].noun, S_OF(n),
			    n == 1 ? notes[i].one : notes[i].many, notes[i].rest);
	html(b, "</ul>\n");
}

static const struct section sections[] = {
	{ .id = "pipelines", .title = "GPU time by pipeline", .none = "No GPU was held in this period.",
	    .says = "One GPU, or one part of a GPU (MIG), held for one hour is one GPU hour. A GPU that several "
	    "containers share counts for each of them.", .names = "Pipeline", .of = PIPELINES, .by = { SECONDS },
	    .column = { { "GPU hours", HOURS, SECONDS }, { "Share", SHARE, SECONDS }, { "Grants", COUNT, GRANTS },
		{ "Held at the end", COUNT, HELD } } },
	{ .id = "teams", .title = "GPU time by team", .add = add_shares,
	    .names = "Team", .of = TEAMS, .by = { SECONDS, WAITED_IN_ALL },
	    .column = { { "GPU hours", HOURS, SECONDS }, { "Held of all", SHARE, SECONDS },
		{ "Waited", DURATION, WAITED_IN_ALL }, { "Share", SHARE, PARTS },
		{ "Points over share", OVER, PARTS } } },
	{ .id = "days", .title = "GPU time by day", .add = add_days,
	    .folded = "The same numbers as a table, in GPU hours", .caption = "GPU hours by day and pipeline",
	    .names = "Day", .of = DAYS, .by = { SECONDS },
	    .column = { { "All", HOURS, SECONDS }, { "", HOURS, PART }, { "", HOURS, PART + 1 },
		{ "", HOURS, PART + 2 }, { "", HOURS, PART + 3 }, { "", HOURS, PART + 4 }, { "", HOURS, PART + 5 },
		{ "", HOURS, PART + 6 }, { "", HOURS, PART + 7 }, { "", HOURS, PART + 8 } } },
	{ .id = "gpus", .title = "How busy each GPU was",
	    .says = "The share of the period in which a container held it. What no record names is not listed.",
	    .caption = "GPUs", .names = "GPU", .of = GPUS, .by = { BUSY },
	    .column = { { "Held", SHARE, BUSY }, { "Hours held", HOURS, BUSY }, { "GPU hours", HOURS, SECONDS },
		{ "Times granted", COUNT, GRANTS } } },
	{ .id = "waits", .title = "Waits", .none = "No grant in this period waited for a GPU.", .add = add_waits,
	    .caption = "Grants by how long they waited", .names = "Wait", .of = WAIT_RANGES, .by = { WAITS },
	    .column = { { "Grants", COUNT, WAITS }, { "Share", SHARE, WAITS } } },
	{ .title = "Waits by pipeline, the longest total first",
	    .names = "Pipeline", .of = PIPELINES, .by = { WAITED, ABANDONED },
	    .column = { { "Grants that waited", COUNT, WAITS }, { "Mean wait", MEAN, WAITED },
		{ "Longest wait", DURATION, LONGEST }, { "Total", DURATION, WAITED },
		{ "Abandoned waits", COUNT, ABANDONED } } },
	{ .id = "denials", .title = "Denials", .none = "No request was denied in this period.",
	    .caption = "Denials by reason", .names = "Reason", .of = DENIAL_KINDS, .by = { DENIALS },
	    .column = { { "Denials", COUNT, DENIALS }, { "Share", SHARE, DENIALS } } },
	{ .title = "Denials by pipeline and reason",
	    .says = "Without a token that proves it, the pipeline is the one that the container claimed.",
	    .names = "Pipeline", .of = PIPELINES, .by = { DENIALS },
	    .column = { { "Denials", COUNT, DENIALS }, { "Reasons", KINDS, DENIALS }, { "The last one", REASON, DENIALS } } },
	{ .title = "Users of the host by denials",
	    .says = "The users of this host who run the containers. A worker's user counts for all of the worker's "
	    "pipelines.", .names = "User", .of = USERS, .by = { DENIALS },
	    .column = { { "Denials", COUNT, DENIALS }, { "Last denial", TIME, LAST }, { "Its reason", REASON, DENIALS } } },
	{ .id = "instances", .title = "Instances of pipelines",
	    .says = "Pipelines with instance variables; pull requests usually have them. «A claim» means that the "
	    "container claimed the instance without proof.", .caption = "Instances, the most GPU time first",
	    .names = "Instance", .of = INSTANCES, .by = { SECONDS, GRANTS, DENIALS },
	    .column = { { "GPU hours", HOURS, SECONDS }, { "Grants", COUNT, GRANTS }, { "Denials", COUNT, DENIALS },
		{ "Last denial's reason", REASON, DENIALS } } },
	{ .id = "notes", .title = "How it is counted", .add = add_notes },
};

/* Adds the page.  own: the report is from this host's own log, not from named files. */
static void
add_page(struct buf *b, const struct report *r, bool own)
{
	autobuf struct buf body = { 0 };
	const struct section *s;
	size_t n;

	add_head(b, r, own);
	html(b, "<nav aria-label=\"Contents\"><ul>\n");
	for (s = sections; s < sections + sizeof(sections) / sizeof(sections[0]); s++) {
		n = rows_sort(&r->set[s->of], s->by);
		/* a share of nothing, or of what the filter leaves, means nothing */
		if ((n == 0 && s->none == NULL && s->names != NULL) ||
		    (s->of == TEAMS && (r->filter != NULL || r->total.n[SECONDS] == 0)))
			continue;
		if (s->id != NULL) {
			html(b, "<li><a href=\"#%s\">%s</a></li>\n", s->id, s->title);
			html(&body, "<section id=\"%s\"><h2>%s</h2>\n", s->id, s->title);
		} else
			html(&body, "<section><h3>%s</h3>\n", s->title);
		if (s->says != NULL || (n == 0 && s->none != NULL))
			html(&body, SOFT("%s"), n == 0 && s->none != NULL ? s->none : s->says);
		if (s->add != NULL)
			s->add(&body, r);
		if (s->folded != NULL)
			html(&body, "<details><summary>%s</summary>", s->folded);
		if (n > 0)
			add_table(&body, r, s, n);
		html(&body, s->folded != NULL ? "</details></section>\n" : "</section>\n");
	}
	html(b, "</ul></nav>\n</header>\n");
	buf_add(b, body.p, body.len);
	html(b, "<footer>gpuhelper " GPUHELPER_VERSION ". To verify the log: gpuhelperctl audit verify.</footer>\n"
	    "</main>\n</body>\n</html>\n");
	b->failed |= body.failed;
}

int
ctl_report(const struct options *o)
{
	const int64_t now = time(NULL);
	/* logs on the command line may end at any time: the report then ends with the last record */
	struct report r = { .since = INT64_MIN, .until = o->args == 0 ? now : INT64_MAX };
	autobuf struct buf filter = { 0 }, page = { 0 };
	struct why why;
	int status;

	if ((status = audit_filter_check(o, "report")) != 0 ||
	    (status = when_option(o, "report", "--since", o->since, now, &r.since)) != 0 ||
	    (status = when_option(o, "report", "--until", o->until, now, &r.until)) != 0)
		return status;
	if (r.since >= r.until)
		return misuse(o, "report: --since must be before --until");
	audit_filter_describe(o, &filter);
	r.filter = filter.p;
	r.nomem = filter.failed;
	if ((status = report_sum(&r, o, &why)) == 0)
		add_page(&page, &r, o->args == 0);
	if (status == -1 || (page.failed && refuse_nomem(&why) == -1) ||
	    ctl_write_output(o->output, true, page.p, page.len, &why) == -1)
		status = give_up(o, &why);
	else if (r.total.n[DAMAGED] > 0)
		status = WHY_DATA;
	report_free(&r);
	return status;
}
