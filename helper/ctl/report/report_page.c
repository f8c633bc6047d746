/*
 * See report_parts.h: the page.  It has no scripts, pictures or fonts, and a Content-Security-Policy that forbids them.
 * Text that others chose comes into the page only through html().
 */
#include "report_parts.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "../../base/cleanup.h"
#include "../../base/path.h"

#define VALUE_SIZE 400		/* of a cell: all kinds of denials, and their numbers */
#define REASON_SHOWN 160
#define ROWS 25			/* of a table, before «12 more» */
#define COLUMNS (SERIES + 1)

/* A section of the page: a heading, texts, and a table, in which a bar stands below each row's name. */
struct section {
	const char *id, *title;	/* NULL: it belongs to the one before, and its table's caption is its heading */
	const char *none;	/* what stands here if the table has no rows; NULL: nothing, not even a heading */
	const char *says;	/* what stands above the table; NULL: nothing */
	void (*add)(struct buf *b, const struct report *r);	/* adds more above the table; NULL: nothing */
	const char *folded;	/* what stands in the place of the table until it is unfolded; NULL: it is not folded */
	const char *caption;
	const char *names;	/* the name of the first column, which has the rows' names; NULL: there is no table */
	enum set of;
	enum count by[KEYS];	/* sorts the rows; a bar shows the first one */
	struct column {
		const char *name;	/* "": that of a series; the table lacks it if there are fewer.  NULL after the last */
		enum form form;
		enum count of;
	} column[COLUMNS + 1];
};

/* «s», where a noun of so many needs one */
#define S_OF(n) ((n) == 1 ? "" : "s")

/* The head of the page */

static void
add_head(struct buf *b, const struct report *r, bool own)
{
	const int64_t records = r->total.n[RECORDS], files = r->total.n[FILES], torn = r->total.n[TORN];
	char host[256] = "this host";

	(void)gethostname(host, sizeof(host) - 1);
	html(b, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
	report_style(b);
	html(b, "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	    "<meta name=\"referrer\" content=\"no-referrer\">\n<title>GPU use%s%s</title>\n</head>\n<body>\n<main>\n"
	    "<header>\n<h1>GPU use", own ? " on " : "", own ? host : "");
	if (own)
		html(b, " on <bdi>%s</bdi>", host);
	if (r->since == 0)
		html(b, "</h1>\n<p>No records</p>\n");
	else
		html(b, "</h1>\n<p>%s to %s UTC</p>\n", as_time(r->since), as_time(r->until));
	if (r->filter != NULL)
		html(b, "<p>Only <bdi>%s</bdi></p>\n", r->filter);
	html(b, "<p class=\"soft\">Made %s UTC on <bdi>%s</bdi> from %s: %s record%s in this period, in %s file%s",
	    as_time(time(NULL)), host, own ? "its audit log" : "named audit logs", as_count(records), S_OF(records),
	    as_count(files), S_OF(files));
	if (torn > 0)
		html(b, ", and %s line%s no valid record%s", as_count(torn), torn == 1 ? " that is" : "s that are", S_OF(torn));
	html(b, ".</p>\n");
}

#define TILE(name, more) "<div><dt>" name "</dt><dd class=\"n\">%s</dd>" more "</div>\n"
#define MORE(text) "<dd class=\"m\">" text "</dd>"

static void
add_summary(struct buf *b, const struct report *r)
{
	const int64_t *all = r->total.n, gpus = (int64_t)r->set[GPUS].n;
	int64_t granted = 0, denied = 0;
	const struct row *p;
	size_t i;

	/* other names begin with a bracket: «(user root)» */
	for (i = 0; i < r->set[PIPELINES].n; i++) {
		p = r->set[PIPELINES].v[i];
		granted += p->name[0] != '(' && (p->n[GRANTS] > 0 || p->n[SECONDS] > 0);
		denied += p->name[0] != '(' && p->n[DENIALS] > 0;
	}
	html(b, "<dl>\n" TILE("GPU hours", ""), as_hours(all[SECONDS]));
	html(b, TILE("Held", MORE("of the time, on average over %s GPU%s")),
	    as_share(all[BUSY], (r->until - r->since) * gpus), as_count(gpus), S_OF(gpus));
	html(b, TILE("Grants", "") TILE("Denials", ""), as_count(all[GRANTS]), as_count(all[DENIALS]));
	html(b, TILE("Pipelines", MORE("%s with denials")), as_count(granted), as_count(denied));
	html(b, TILE("Longest wait", MORE("%s abandoned wait%s")) "</dl>\n", as_duration(all[LONGEST]),
	    as_count(all[ABANDONED]), S_OF(all[ABANDONED]));
}

/* Tables */

/* The column's name; NULL: the table lacks it. */
static const char *
name_of(const struct report *r, const struct column *c)
{
	if (c->of == PARTS && r->no_shares != NULL)
		return NULL;
	return *c->name == '\0' ? r->series[c->of - PART] : c->name;
}

/* Words begin at the left, numbers end at the right. */
#define CLASS_OF(column) ((column)->form < FORM_KINDS ? "n" : "t")

/* The kinds of denials that occur, the most frequent first. */
static const char *
kinds_of(const struct row *row, char out[VALUE_SIZE])
{
	size_t i, len = 0;
	int64_t n;

	out[0] = '\0';
	for (n = row->n[DENIALS]; n > 0; n--)
		for (i = 0; i < AUDIT_KINDS; i++)
			if (row->n[PART + i] == n && len < VALUE_SIZE)
				len += (size_t)snprintf(out + len, VALUE_SIZE - len, "%s%s %s", len > 0 ? ", " : "",
				    audit_kinds[i].name, as_count(n));
	return out;
}

static const char *
value_of(const struct column *c, const struct row *row, const struct row *all, char out[VALUE_SIZE])
{
	const int64_t n = row->n[c->of], whole = all->n[c->of];
	const double over = percent(row->n[SECONDS], all->n[SECONDS]) - percent(n, whole);

	switch (c->form) {
	case FORM_MEAN:
		return number_text(FORM_DURATION, row->n[WAITS] > 0 ? n / row->n[WAITS] : 0, 0, out);
	case FORM_OVER:
		snprintf(out, VALUE_SIZE, over > -0.05 && over < 0.05 ? "0.0" : "%+.1f", over);
		return out;
	case FORM_KINDS:
		return kinds_of(row, out);
	case FORM_REASON:
		return path_short(row->reason, out, REASON_SHOWN);
	default:
		return number_text(c->form, n, whole, out);
	}
}

/*
 * Adds a row with a bar that is «wide» percent of its name's width, or none if that is negative.  Each cell carries its
 * column's name, which the style sheet shows on a narrow screen, where a row is a small list.
 */
static void
add_row(struct buf *b, const struct report *r, const struct section *s, const struct row *row, const struct row *all,
    double wide)
{
	const struct column *c;
	char text[VALUE_SIZE];

	html(b, "<tr class=\"%s\"><th scope=\"row\"><bdi>%s</bdi>", wide < 0 ? "more" : "row", row->name);
	if (row->more != NULL)
		html(b, "<small>%s</small>", row->more);
	if (wide >= 0)
		html(b, "<svg class=\"bar\" aria-hidden=\"true\"><rect width=\"%f%%\" height=\"100%%\"/></svg>",
		    wide > 0 && wide < 0.3 ? 0.3 : wide);
	html(b, "</th>");
	for (c = s->column; c->name != NULL; c++)
		if (name_of(r, c) != NULL)
			html(b, "<td class=\"%s\" data-c=\"%s\"><bdi>%s</bdi></td>", CLASS_OF(c), as_short(name_of(r, c)),
			    value_of(c, row, all, text));
	html(b, "</tr>\n");
}

/* Adds the table of the section with these rows, of which it may show only the first. */
static void
add_table(struct buf *b, const struct report *r, const struct section *s, struct row *const *row, size_t n)
{
	const size_t key = s->by[0], most = s->of == INSTANCES ? 2 * ROWS : ROWS;
	char more[NUMBER_SIZE + 8];
	struct row all = { .name = more }, rest = { .name = more };
	const struct column *c;
	int64_t widest = 0;
	size_t i, k, shown;

	html(b, "<div class=\"scroll\" role=\"region\" aria-label=\"%s\" tabindex=\"0\"><table><caption>%s</caption>"
	    "<thead><tr><th scope=\"col\">%s</th>", s->caption, s->caption, s->names);
	for (c = s->column; c->name != NULL; c++)
		if (name_of(r, c) != NULL)
			html(b, "<th scope=\"col\" class=\"%s\"><bdi>%s</bdi></th>", CLASS_OF(c), as_short(name_of(r, c)));
	html(b, "</tr></thead><tbody>\n");
	for (shown = 0; shown < n && (shown < most || row[shown]->n[ORDER] > 0); shown++)
		widest = row[shown]->n[key] > widest ? row[shown]->n[key] : widest;
	for (i = 0; i < n; i++)
		for (k = 0; k < COUNTS; k++) {
			row_count(&all, (enum count)k, row[i]->n[k]);
			row_count(&rest, (enum count)k, i < shown ? 0 : row[i]->n[k]);
		}
	/* a GPU can be busy for the whole period */
	all.n[BUSY] = r->until - r->since;
	for (i = 0; i < shown; i++)
		add_row(b, r, s, row[i], &all, percent(row[i]->n[key], key == BUSY ? all.n[BUSY] : widest));
	snprintf(more, sizeof(more), "%s more", as_count((int64_t)(n - shown)));
	if (shown < n)
		add_row(b, r, s, &rest, &all, -1);
	html(b, "</tbody></table></div>\n");
}

/* Sections */

static void
add_shares(struct buf *b, const struct report *r)
{
	html(b, "<p class=\"soft\">%s Waits that ended with a grant or were abandoned are added up; a denial records no "
	    "time.</p>\n", r->no_shares != NULL ? r->no_shares : "The share is that of team_shares in gpuhelper.conf, "
	    "among these teams; one without an entry has 1 part. Only teams that wait claim their share: while nobody else "
	    "waits, a team may hold more.");
}

static void
add_days(struct buf *b, const struct report *r)
{
	html(b, "<p class=\"soft\">");
	if (r->days_each > 1)
		html(b, "Each column is %d days, beginning with the day that it is named after. ", (int)r->days_each);
	html(b, "Days are in UTC.");
	if (r->series[SERIES - 1] != NULL)
		html(b, " The %d pipelines with the most GPU time have their own colours.", SERIES - 1);
	html(b, "</p>\n");
	chart_days(b, r);
}

static void
add_waits(struct buf *b, const struct report *r)
{
	const int64_t *all = r->total.n;

	if (all[WAITS] > 0)
		html(b, "<p class=\"soft\">%s grant%s waited for a GPU for a second or longer, %s on average. A container or "
		    "task that got no GPU in time is a denial (busy).</p>\n", as_count(all[WAITS]), S_OF(all[WAITS]),
		    as_duration(all[WAITED] / all[WAITS]));
	if (all[ABANDONED] > 0)
		html(b, "<p class=\"soft\">%s wait%s abandoned before %s turn, after %s on average.</p>\n",
		    as_count(all[ABANDONED]), all[ABANDONED] == 1 ? " was" : "s were", all[ABANDONED] == 1 ? "its" : "their",
		    as_duration(all[IN_VAIN] / all[ABANDONED]));
}

static void
add_notes(struct buf *b, const struct report *r)
{
	static const struct {
		enum count of;
		const char *noun, *one, *many, *rest;	/* «2 ends have no record of their grant» */
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
	int64_t n;
	size_t i;

	html(b, "<ul class=\"notes\">\n<li>A container holds its GPUs from the record of the grant to the record of its "
	    "end, of its undoing, or of giving them back. Only time within the period counts.</li>\n");
	for (i = 0; i < sizeof(notes) / sizeof(notes[0]); i++)
		if ((n = r->total.n[notes[i].of]) > 0)
			buf_printf(b, "<li>%s %s%s %s %s.</li>\n", as_count(n), notes[i].noun, S_OF(n),
			    n == 1 ? notes[i].one : notes[i].many, notes[i].rest);
	html(b, "</ul>\n");
}

static const struct section sections[] = {
	{ .id = "pipelines", .title = "GPU time by pipeline", .none = "No GPU was held in this period.",
	    .says = "One GPU, or one part of a GPU (MIG), held for one hour is one GPU hour. A GPU that several containers "
	    "share counts for each of them.",
	    .caption = "GPU time by pipeline", .names = "Pipeline", .of = PIPELINES, .by = { SECONDS },
	    .column = { { "GPU hours", FORM_HOURS, SECONDS }, { "Share", FORM_SHARE, SECONDS },
		{ "Grants", FORM_COUNT, GRANTS }, { "Held at the end", FORM_COUNT, HELD } } },
	{ .id = "teams", .title = "GPU time by team", .add = add_shares,
	    .caption = "GPU time by team", .names = "Team", .of = TEAMS, .by = { SECONDS, WAITED_IN_ALL },
	    .column = { { "GPU hours", FORM_HOURS, SECONDS }, { "Held of all", FORM_SHARE, SECONDS },
		{ "Waited", FORM_DURATION, WAITED_IN_ALL }, { "Share", FORM_SHARE, PARTS },
		{ "Points over share", FORM_OVER, PARTS } } },
	{ .id = "days", .title = "GPU time by day", .add = add_days, .folded = "The same numbers as a table, in GPU hours",
	    .caption = "GPU hours by day and pipeline", .names = "Day", .of = DAYS, .by = { SECONDS },
	    .column = { { "All", FORM_HOURS, SECONDS }, { "", FORM_HOURS, PART }, { "", FORM_HOURS, PART + 1 },
		{ "", FORM_HOURS, PART + 2 }, { "", FORM_HOURS, PART + 3 }, { "", FORM_HOURS, PART + 4 },
		{ "", FORM_HOURS, PART + 5 }, { "", FORM_HOURS, PART + 6 }, { "", FORM_HOURS, PART + 7 },
		{ "", FORM_HOURS, PART + 8 } } },
	{ .id = "gpus", .title = "How busy each GPU was",
	    .says = "The share of the period in which a container held it. What no record names is not listed.",
	    .caption = "GPUs", .names = "GPU", .of = GPUS, .by = { BUSY },
	    .column = { { "Held", FORM_SHARE, BUSY }, { "Hours held", FORM_HOURS, BUSY },
		{ "GPU hours", FORM_HOURS, SECONDS }, { "Times granted", FORM_COUNT, GRANTS } } },
	{ .id = "waits", .title = "Waits", .none = "No grant in this period waited for a GPU.", .add = add_waits,
	    .caption = "Grants by how long they waited", .names = "Wait", .of = WAIT_RANGES, .by = { WAITS },
	    .column = { { "Grants", FORM_COUNT, WAITS }, { "Share", FORM_SHARE, WAITS } } },
	{ .caption = "Waits by pipeline, the longest total first", .names = "Pipeline", .of = PIPELINES,
	    .by = { WAITED, ABANDONED },
	    .column = { { "Grants that waited", FORM_COUNT, WAITS }, { "Mean wait", FORM_MEAN, WAITED },
		{ "Longest wait", FORM_DURATION, LONGEST }, { "Total", FORM_DURATION, WAITED },
		{ "Abandoned waits", FORM_COUNT, ABANDONED } } },
	{ .id = "denials", .title = "Denials", .none = "No request was denied in this period.",
	    .caption = "Denials by reason", .names = "Reason", .of = DENIAL_KINDS, .by = { DENIALS },
	    .column = { { "Denials", FORM_COUNT, DENIALS }, { "Share", FORM_SHARE, DENIALS } } },
	{ .says = "Without a token that proves it, the pipeline is the one that the container claimed.",
	    .caption = "Denials by pipeline and reason", .names = "Pipeline", .of = PIPELINES, .by = { DENIALS },
	    .column = { { "Denials", FORM_COUNT, DENIALS }, { "Reasons", FORM_KINDS, DENIALS },
		{ "The last one", FORM_REASON, DENIALS } } },
	{ .says = "The users of this host who run the containers. A worker's user counts for all of the worker's pipelines.",
	    .caption = "Users of the host by denials", .names = "User", .of = USERS, .by = { DENIALS },
	    .column = { { "Denials", FORM_COUNT, DENIALS }, { "Last denial", FORM_TIME, LAST },
		{ "Its reason", FORM_REASON, DENIALS } } },
	{ .id = "instances", .title = "Instances of pipelines",
	    .says = "Pipelines with instance variables; pull requests usually have them. «A claim» means that the "
	    "container claimed the instance without proof.",
	    .caption = "Instances, the most GPU time first", .names = "Instance", .of = INSTANCES,
	    .by = { SECONDS, GRANTS, DENIALS },
	    .column = { { "GPU hours", FORM_HOURS, SECONDS }, { "Grants", FORM_COUNT, GRANTS },
		{ "Denials", FORM_COUNT, DENIALS }, { "Last denial's reason", FORM_REASON, DENIALS } } },
	{ .id = "notes", .title = "How it is counted", .add = add_notes },
};

static void
add_section(struct buf *b, const struct report *r, const struct section *s, struct row *const *row, size_t n)
{
	const char *says = n == 0 && s->none != NULL ? s->none : s->says;

	if (s->id != NULL)
		html(b, "<section id=\"%s\"><h2>%s</h2>\n", s->id, s->title);
	else
		html(b, "<section><h3>%s</h3>\n", s->caption);
	if (says != NULL)
		html(b, "<p class=\"soft\">%s</p>\n", says);
	if (s->add != NULL)
		s->add(b, r);
	if (s->folded != NULL)
		html(b, "<details><summary>%s</summary>", s->folded);
	if (n > 0)
		add_table(b, r, s, row, n);
	html(b, s->folded != NULL ? "</details></section>\n" : "</section>\n");
}

void
report_page(struct buf *b, const struct report *r, bool own)
{
	autobuf struct buf body = { 0 };
	const struct section *s;
	size_t n;

	add_head(b, r, own);
	add_summary(b, r);
	html(b, "<nav aria-label=\"Contents\"><ul>\n");
	for (s = sections; s < sections + sizeof(sections) / sizeof(sections[0]); s++) {
		autofree struct row **row = NULL;

		n = rows_select(&r->set[s->of], s->by, &row);
		b->failed |= row == NULL;
		/* a share of nothing, or of what the filter leaves, means nothing */
		if ((n == 0 && s->none == NULL && s->names != NULL) ||
		    (s->of == TEAMS && (r->filter != NULL || r->total.n[SECONDS] == 0)))
			continue;
		if (s->id != NULL)
			html(b, "<li><a href=\"#%s\">%s</a></li>\n", s->id, s->title);
		add_section(&body, r, s, row, n);
	}
	b->failed |= body.failed;
	html(b, "</ul></nav>\n</header>\n");
	buf_add(b, body.p, body.len);
	html(b, "<footer>gpuhelper " GPUHELPER_VERSION ". To verify the log: gpuhelperctl audit verify.</footer>\n"
	    "</main>\n</body>\n</html>\n");
}
