/*
 * See report.h: the page.  It has no scripts, pictures or fonts, and a Content-Security-Policy that forbids them.  Text
 * that others chose comes into the page only through html().
 */
#include "report.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "../../base/cleanup.h"

#define ROWS 25

/* «s», where a noun of so many needs one */
static const char *
s_of(int64_t n)
{
	return n == 1 ? "" : "s";
}

static void
add_head(struct buf *b, const struct report *r, const char *host, bool own)
{
	html(b, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
	report_style(b);
	html(b, "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	    "<meta name=\"referrer\" content=\"no-referrer\">\n");
	html(b, "<title>GPU use%s%s</title>\n", own ? " on " : "", own ? host : "");
	html(b, "</head>\n<body>\n<main>\n<header>\n<h1>GPU use");
	if (own)
		html(b, " on <bdi>%s</bdi>", host);
	html(b, "</h1>\n");
	if (r->since == 0)
		html(b, "<p class=\"lead\">No records</p>\n");
	else
		html(b, "<p class=\"lead\">%s to %s UTC</p>\n", as_time(r->since), as_time(r->until));
	if (r->filter != NULL)
		html(b, "<p class=\"lead\">Only <bdi>%s</bdi></p>\n", r->filter);
}

static void
add_origin(struct buf *b, const struct report *r, const char *host, bool own)
{
	const int64_t records = r->total.n[RECORDS], files = r->total.n[FILES], torn = r->total.n[TORN];

	html(b, "<p class=\"soft\">Made %s UTC on <bdi>%s</bdi> from %s: %s record%s in this period, in %s file%s",
	    as_time(time(NULL)), host, own ? "its audit log" : "named audit logs", as_count(records), s_of(records),
	    as_count(files), s_of(files));
	if (torn > 0)
		html(b, ", and %s line%s no valid record%s", as_count(torn), torn == 1 ? " that is" : "s that are", s_of(torn));
	html(b, ".</p>\n");
}

/* Adds a number of the summary, with a text below it, which may be empty. */
static void
add_tile(struct buf *b, const char *name, const char *number, const char *more)
{
	html(b, "<div><dt>%s</dt><dd class=\"n\">%s</dd>", name, number);
	if (*more != '\0')
		html(b, "<dd class=\"m\">%s</dd>", more);
	html(b, "</div>\n");
}

static void
add_summary(struct buf *b, const struct report *r)
{
	const int64_t *all = r->total.n, gpus = (int64_t)r->set[GPUS].n;
	char held[96], with_denials[64] = "", abandoned[64] = "";
	const struct row *p;
	int64_t granted = 0, denied = 0;
	size_t i;

	/* other names begin with a bracket: «(user root)» */
	for (i = 0; i < r->set[PIPELINES].n; i++) {
		p = r->set[PIPELINES].v[i];
		granted += p->name[0] != '(' && (p->n[GRANTS] > 0 || p->n[SECONDS] > 0);
		denied += p->name[0] != '(' && p->n[DENIALS] > 0;
	}
	snprintf(held, sizeof(held), "of the time, on average over %s GPU%s", as_count(gpus), s_of(gpus));
	if (denied > 0)
		snprintf(with_denials, sizeof(with_denials), "%s with denials", as_count(denied));
	if (all[ABANDONED] > 0)
		snprintf(abandoned, sizeof(abandoned), "%s abandoned wait%s", as_count(all[ABANDONED]), s_of(all[ABANDONED]));
	html(b, "<dl class=\"sum\">\n");
	add_tile(b, "GPU hours", as_hours(all[SECONDS]), "");
	add_tile(b, "Held", as_share(all[BUSY], (r->until - r->since) * gpus), held);
	add_tile(b, "Grants", as_count(all[GRANTS]), "");
	add_tile(b, "Denials", as_count(all[DENIALS]), "");
	add_tile(b, "Pipelines", as_count(granted), with_denials);
	add_tile(b, "Longest wait", as_duration(all[LONGEST]), abandoned);
	html(b, "</dl>\n");
}

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
		    "task that got no GPU in time is a denial (busy).</p>\n", as_count(all[WAITS]), s_of(all[WAITS]),
		    as_duration(all[WAITED] / all[WAITS]));
	if (all[ABANDONED] > 0)
		html(b, "<p class=\"soft\">%s wait%s abandoned before %s turn, after %s%s.</p>\n", as_count(all[ABANDONED]),
		    all[ABANDONED] == 1 ? " was" : "s were", all[ABANDONED] == 1 ? "its" : "their",
		    as_duration(all[IN_VAIN] / all[ABANDONED]), all[ABANDONED] == 1 ? "" : " on average");
}

static void
add_notes(struct buf *b, const struct report *r)
{
	static const struct {
		enum count of;
		const char *one, *many;
	} notes[] = {
		{ HELD, "container held GPUs at the end of the period: it counts until then.",
		    "containers held GPUs at the end of the period: they count until then." },
		{ AGAIN, "time a container regained GPUs that it had given back; this counts as no further grant.",
		    "times a container regained GPUs that it had given back; these count as no further grants." },
		{ UNDONE, "grant was undone: the container was not created.",
		    "grants were undone: the containers were not created." },
		{ FOLDERS_ONLY, "grant was of folders only.", "grants were of folders only." },
		{ CUT_BY_BOOT, "container held GPUs when the host was rebooted: it counts until then.",
		    "containers held GPUs when the host was rebooted: they count until then." },
		{ REPLACED, "grant has no record of its end; it counts until the same container's next grant.",
		    "grants have no record of their end; each counts until the same container's next grant." },
		{ ORPHANS, "end has no record of its grant: it does not count.",
		    "ends have no record of their grant: they do not count." },
		{ LEFT_OUT, "record was left out of the log, as its user's quota of records was used up.",
		    "records were left out of the log, as their users' quotas of records were used up." },
		{ TORN, "line of the log is no valid record: cut off by a full disk, or changed later.",
		    "lines of the log are no valid records: cut off by a full disk, or changed later." },
		{ DAMAGED, "file can't be read to its end.", "files can't be read to their end." },
	};
	int64_t n;
	size_t i;

	html(b, "<ul class=\"notes\">\n<li>A container holds its GPUs from the record of the grant to the record of its "
	    "end, of its undoing, or of giving them back. Only time within the period counts.</li>\n");
	for (i = 0; i < sizeof(notes) / sizeof(notes[0]); i++) {
		if ((n = r->total.n[notes[i].of]) == 0)
			continue;
		html(b, "<li>%s ", as_count(n));
		buf_puts(b, n == 1 ? notes[i].one : notes[i].many);
		buf_puts(b, "</li>\n");
	}
	buf_puts(b, "</ul>\n");
}

/* A section of the page: a heading, texts, and a table. */
static const struct section {
	const char *id;		/* NULL: it belongs to the one before, and the contents do not list it */
	const char *title;
	const char *none;	/* what stands here if the table has no rows; NULL: nothing, not even a heading */
	const char *says;	/* what stands above the table; NULL: nothing */
	void (*add)(struct buf *b, const struct report *r);	/* adds more above the table; NULL: nothing */
	const char *folded;	/* what stands in the place of the table until it is unfolded; NULL: it is not folded */
	struct table table;	/* without columns: there is none */
} sections[] = {
	{ .id = "pipelines", .title = "GPU time by pipeline", .none = "No GPU was held in this period.",
	    .says = "One GPU, or one part of a GPU (MIG), held for one hour is one GPU hour. A GPU that several containers "
	    "share counts for each of them.",
	    .table = { "GPU time by pipeline", "Pipeline", PIPELINES, { SECONDS }, ROWS,
		{ { "GPU hours", CELL_HOURS, SECONDS }, { "Share", CELL_SHARE, SECONDS }, { "Grants", CELL_COUNT, GRANTS },
		{ "Held at the end", CELL_COUNT, HELD } } } },
	{ .id = "teams", .title = "GPU time by team", .add = add_shares,
	    .table = { "GPU time by team", "Team", TEAMS, { SECONDS, WAITED_IN_ALL }, ROWS,
		{ { "GPU hours", CELL_HOURS, SECONDS }, { "Held of all", CELL_SHARE, SECONDS },
		{ "Waited", CELL_DURATION, WAITED_IN_ALL }, { "Share", CELL_SHARE, PARTS },
		{ "Points over share", CELL_OVER, PARTS } } } },
	{ .id = "days", .title = "GPU time by day", .add = add_days, .folded = "The same numbers as a table, in GPU hours",
	    .table = { "GPU hours by day and pipeline", "Day", DAYS, { SECONDS }, ROWS,
		{ { "All", CELL_HOURS, SECONDS }, { "", CELL_SERIES, PART }, { "", CELL_SERIES, PART + 1 },
		{ "", CELL_SERIES, PART + 2 }, { "", CELL_SERIES, PART + 3 }, { "", CELL_SERIES, PART + 4 },
		{ "", CELL_SERIES, PART + 5 }, { "", CELL_SERIES, PART + 6 }, { "", CELL_SERIES, PART + 7 },
		{ "", CELL_SERIES, PART + 8 } } } },
	{ .id = "gpus", .title = "How busy each GPU was",
	    .says = "The share of the period in which a container held it. GPUs and parts that no record names are not "
	    "listed.",
	    .table = { "GPUs", "GPU", GPUS, { BUSY }, ROWS,
		{ { "Held", CELL_OF_PERIOD, BUSY }, { "Hours held", CELL_HOURS, BUSY }, { "GPU hours", CELL_HOURS, SECONDS },
		{ "Times granted", CELL_COUNT, GRANTS } } } },
	{ .id = "waits", .title = "Waits", .none = "No grant in this period waited for a GPU.", .add = add_waits,
	    .table = { "Grants by how long they waited", "Wait", WAIT_RANGES, { WAITS }, ROWS,
		{ { "Grants", CELL_COUNT, WAITS }, { "Share", CELL_SHARE, WAITS } } } },
	{ .title = "By pipeline", .says = "The pipeline with the longest total wait comes first.",
	    .table = { "Waits by pipeline, the longest total first", "Pipeline", PIPELINES, { WAITED, ABANDONED }, ROWS,
		{ { "Grants that waited", CELL_COUNT, WAITS }, { "Mean wait", CELL_MEAN, WAITED },
		{ "Longest wait", CELL_DURATION, LONGEST }, { "Total", CELL_DURATION, WAITED },
		{ "Abandoned waits", CELL_COUNT, ABANDONED } } } },
	{ .id = "denials", .title = "Denials", .none = "No request was denied in this period.",
	    .table = { "Denials by reason", "Reason", DENIAL_KINDS, { DENIALS }, ROWS,
		{ { "Denials", CELL_COUNT, DENIALS }, { "Share", CELL_SHARE, DENIALS } } } },
	{ .title = "By pipeline",
	    .says = "Without a token that proves it, the pipeline is the one that the container claimed.",
	    .table = { "Denials by pipeline and reason", "Pipeline", PIPELINES, { DENIALS }, ROWS,
		{ { "Denials", CELL_COUNT, DENIALS }, { "Reasons", CELL_KINDS, DENIALS },
		{ "The last one", CELL_REASON, DENIALS } } } },
	{ .title = "Users with the most denials",
	    .says = "The users of this host who run the containers. A worker's user is counted for all of the worker's "
	    "pipelines.",
	    .table = { "Users of the host by denials", "User", USERS, { DENIALS }, ROWS,
		{ { "Denials", CELL_COUNT, DENIALS }, { "Last denial", CELL_TIME, LAST },
		{ "Its reason", CELL_REASON, DENIALS } } } },
	{ .id = "instances", .title = "Instances of pipelines",
	    .says = "Pipelines with instance variables; pull requests usually have them. «A claim» means that the "
	    "container claimed the instance without proof.",
	    .table = { "Instances, the most GPU time first", "Instance", INSTANCES, { SECONDS, GRANTS, DENIALS }, 2 * ROWS,
		{ { "GPU hours", CELL_HOURS, SECONDS }, { "Grants", CELL_COUNT, GRANTS }, { "Denials", CELL_COUNT, DENIALS },
		{ "Last denial's reason", CELL_REASON, DENIALS } } } },
	{ .id = "notes", .title = "How it is counted", .add = add_notes },
};
#define SECTIONS (sizeof(sections) / sizeof(sections[0]))

static bool
is_there(const struct report *r, const struct section *s)
{
	autofree struct row **row = NULL;

	/* a share of nothing, or of what the filter leaves, means nothing */
	if (s->table.of == TEAMS && (r->filter != NULL || r->total.n[SECONDS] == 0))
		return false;
	return s->none != NULL || s->table.names == NULL || rows_select(&r->set[s->table.of], s->table.by, &row) > 0;
}

static void
add_contents(struct buf *b, const struct report *r)
{
	const struct section *s;

	html(b, "<nav aria-label=\"Contents\"><ul>\n");
	for (s = sections; s < sections + SECTIONS; s++)
		if (s->id != NULL && is_there(r, s))
			html(b, "<li><a href=\"#%s\">%s</a></li>\n", s->id, s->title);
	html(b, "</ul></nav>\n");
}

static void
add_section(struct buf *b, const struct report *r, const struct section *s)
{
	autofree struct row **row = NULL;
	const size_t n = rows_select(&r->set[s->table.of], s->table.by, &row);
	const char *says = n == 0 && s->none != NULL ? s->none : s->says;

	b->failed |= row == NULL;
	if (s->id != NULL)
		html(b, "<section id=\"%s\"><h2>%s</h2>\n", s->id, s->title);
	else
		html(b, "<section><h3>%s</h3>\n", s->title);
	if (says != NULL)
		html(b, "<p class=\"soft\">%s</p>\n", says);
	if (s->add != NULL)
		s->add(b, r);
	if (s->folded != NULL)
		html(b, "<details><summary>%s</summary>", s->folded);
	if (n > 0 && s->table.names != NULL)
		table_add(b, r, &s->table, row, n);
	html(b, s->folded != NULL ? "</details></section>\n" : "</section>\n");
}

void
report_page(struct buf *b, const struct report *r, bool own)
{
	const struct section *s;
	char host[256] = "this host";

	(void)gethostname(host, sizeof(host) - 1);
	add_head(b, r, host, own);
	add_origin(b, r, host, own);
	add_summary(b, r);
	add_contents(b, r);
	html(b, "</header>\n");
	for (s = sections; s < sections + SECTIONS; s++)
		if (is_there(r, s))
			add_section(b, r, s);
	html(b, "<footer>gpuhelper " GPUHELPER_VERSION ". To verify the log: gpuhelperctl audit verify.</footer>\n"
	    "</main>\n</body>\n</html>\n");
}
