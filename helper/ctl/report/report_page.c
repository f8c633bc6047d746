/*
 * See report.h: the page.  It has no scripts, pictures or fonts, and a Content-Security-Policy that forbids them.  Text
 * that others chose comes into the page only through html_text().
 */
#include "report.h"

#include <string.h>
#include <time.h>

static void
add_moment(struct buf *b, int64_t t)
{
	char text[32];

	text_time(t, text);
	buf_printf(b, "<time datetime=\"%s\">%.10s %.5s</time>", text, text, text + 11);
}

static void
add_head(struct buf *b, const struct report *r, const char *host, bool own)
{
	buf_puts(b, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
	report_style(b);
	buf_puts(b, "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	    "<meta name=\"referrer\" content=\"no-referrer\">\n<title>GPU use");
	if (own) {
		buf_puts(b, " on ");
		html_text(b, host);
	}
	buf_puts(b, "</title>\n</head>\n<body>\n<main>\n<header>\n<h1>GPU use");
	if (own) {
		buf_puts(b, " on <bdi>");
		html_text(b, host);
		buf_puts(b, "</bdi>");
	}
	buf_puts(b, "</h1>\n<p class=\"lead\">");
	if (r->from == 0)
		buf_puts(b, "No records");
	else {
		add_moment(b, r->from);
		buf_puts(b, " to ");
		add_moment(b, r->to);
		buf_puts(b, " UTC");
	}
	buf_puts(b, "</p>\n");
	if (r->filter == NULL)
		return;
	buf_puts(b, "<p class=\"lead\">Only <bdi>");
	html_text(b, r->filter);
	buf_puts(b, "</bdi></p>\n");
}

static void
add_origin(struct buf *b, const struct report *r, const char *host, bool own)
{
	buf_puts(b, "<p class=\"soft\">Made ");
	add_moment(b, time(NULL));
	buf_puts(b, " UTC on <bdi>");
	html_text(b, host);
	buf_puts(b, own ? "</bdi> from its audit log: " : "</bdi> from named audit logs: ");
	html_count(b, (int64_t)r->records);
	buf_printf(b, " record%s in this period, in %zu file%s", r->records == 1 ? "" : "s", r->files, r->files == 1 ? "" :
	    "s");
	if (r->torn > 0) {
		buf_puts(b, ", and ");
		html_count(b, (int64_t)r->torn);
		buf_printf(b, " line%s that %s no valid record%s", r->torn == 1 ? "" : "s", r->torn == 1 ? "is" : "are",
		    r->torn == 1 ? "" : "s");
	}
	buf_puts(b, ".</p>\n");
}

/* Begin and end a number of the summary; the caller adds the number in between. */
static void
begin_tile(struct buf *b, const char *name)
{
	buf_printf(b, "<div><dt>%s</dt><dd class=\"n\">", name);
}

static void
end_tile(struct buf *b, const char *more)
{
	buf_puts(b, "</dd>");
	if (*more != '\0')
		buf_printf(b, "<dd class=\"m\">%s</dd>", more);
	buf_puts(b, "</div>\n");
}

static void
add_tile(struct buf *b, const char *name, size_t n, const char *more)
{
	begin_tile(b, name);
	html_count(b, (int64_t)n);
	end_tile(b, more);
}

static void
add_busy(struct buf *b, const struct report *r)
{
	autobuf struct buf more = { 0 };
	int64_t busy = 0;
	size_t i;

	for (i = 0; i < r->gpus.n; i++)
		busy += ((const struct report_gpu *)r->gpus.v[i])->busy;
	buf_puts(&more, "of the time, on average over ");
	html_count(&more, (int64_t)r->gpus.n);
	buf_puts(&more, r->gpus.n == 1 ? " GPU" : " GPUs");
	begin_tile(b, "Held");
	html_share(b, busy, (r->to - r->from) * (int64_t)r->gpus.n);
	end_tile(b, more.failed ? "" : more.p);
}

static void
add_summary(struct buf *b, const struct report *r)
{
	autobuf struct buf more = { 0 }, vain = { 0 };
	const struct report_pipeline *p;
	size_t i, granted = 0, denied = 0;

	for (i = 0; i < r->pipelines.n; i++) {
		p = r->pipelines.v[i];
		granted += p->named && (p->grants > 0 || p->seconds > 0);
		denied += p->named && p->denials > 0;
	}
	buf_puts(b, "<dl class=\"sum\">\n");
	begin_tile(b, "GPU hours");
	html_hours(b, r->seconds);
	end_tile(b, "");
	add_busy(b, r);
	add_tile(b, r->grants == 1 ? "Grant" : "Grants", r->grants, "");
	add_tile(b, r->denials == 1 ? "Denial" : "Denials", r->denials, "");
	buf_printf(&more, "%zu with denials", denied);
	add_tile(b, granted == 1 ? "Pipeline" : "Pipelines", granted, denied > 0 && !more.failed ? more.p : "");
	begin_tile(b, "Longest wait");
	html_duration(b, r->longest);
	html_count(&vain, (int64_t)r->abandoned);
	buf_puts(&vain, r->abandoned == 1 ? " abandoned wait" : " abandoned waits");
	end_tile(b, r->abandoned > 0 && !vain.failed ? vain.p : "");
	buf_puts(b, "</dl>\n");
}

/* Adds «N one» or «N many»; adds nothing if n is 0. */
static void
add_note(struct buf *b, int64_t n, const char *one, const char *many)
{
	if (n == 0)
		return;
	buf_puts(b, "<li>");
	html_count(b, n);
	buf_printf(b, " %s</li>\n", n == 1 ? one : many);
}

static void
add_notes(struct buf *b, struct report *r)
{
	buf_puts(b, "<ul class=\"notes\">\n<li>A container holds its GPUs from the "
	    "record of the grant to the record of its end, of its undoing, or of giving them back. Only time within the "
	    "period counts.</li>\n");
	add_note(b, (int64_t)r->held, "container held GPUs at the end of the period: it counts until then.",
	    "containers held GPUs at the end of the period: they count until then.");
	add_note(b, (int64_t)r->again,
	    "time a container regained GPUs that it had given back; this counts as no further grant.",
	    "times a container regained GPUs that it had given back; these count as no further grants.");
	add_note(b, (int64_t)r->undone, "grant was undone: the container was not created.",
	    "grants were undone: the containers were not created.");
	add_note(b, (int64_t)r->without_gpus, "grant was of folders only.", "grants were of folders only.");
	add_note(b, (int64_t)r->cut_by_boot, "container held GPUs when the host was rebooted: it counts until then.",
	    "containers held GPUs when the host was rebooted: they count until then.");
	add_note(b, (int64_t)r->replaced,
	    "grant has no record of its end; it counts until the same container's next grant.",
	    "grants have no record of their end; each counts until the same container's next grant.");
	add_note(b, (int64_t)r->orphans, "end has no record of its grant: it does not count.",
	    "ends have no record of their grant: they do not count.");
	add_note(b, r->left_out,
	    "record was left out of the log, as its user's quota of records was used up.",
	    "records were left out of the log, as their users' quotas of records were used up.");
	add_note(b, (int64_t)r->torn, "line of the log is no valid record: cut off by a full disk, or changed later.",
	    "lines of the log are no valid records: cut off by a full disk, or changed later.");
	add_note(b, (int64_t)r->damaged, "file can't be read to its end.", "files can't be read to their end.");
	buf_puts(b, "</ul>\n");
}

static const struct section {
	const char *id, *title;
	bool (*has)(const struct report *r);	/* NULL: always */
	void (*add)(struct buf *b, struct report *r);
} sections[] = {
	{ "pipelines", "GPU time by pipeline", NULL, report_pipelines },
	{ "teams", "GPU time by team", report_has_teams, report_teams },
	{ "days", "GPU time by day", report_has_days, report_days },
	{ "gpus", "How busy each GPU was", report_has_gpus, report_gpus },
	{ "waits", "Waits", NULL, report_waiting },
	{ "denials", "Denials", NULL, report_denials },
	{ "instances", "Instances of pipelines", report_has_instances, report_instances },
	{ "notes", "How it is counted", NULL, add_notes },
};
#define SECTIONS (sizeof(sections) / sizeof(sections[0]))

static void
add_contents(struct buf *b, const struct report *r)
{
	const struct section *s;

	buf_puts(b, "<nav aria-label=\"Contents\"><ul>\n");
	for (s = sections; s < sections + SECTIONS; s++)
		if (s->has == NULL || s->has(r))
			buf_printf(b, "<li><a href=\"#%s\">%s</a></li>\n", s->id, s->title);
	buf_puts(b, "</ul></nav>\n");
}

static void
add_sections(struct buf *b, struct report *r)
{
	const struct section *s;

	for (s = sections; s < sections + SECTIONS; s++) {
		if (s->has != NULL && !s->has(r))
			continue;
		buf_printf(b, "<section id=\"%s\"><h2>%s</h2>\n", s->id, s->title);
		s->add(b, r);
		buf_puts(b, "</section>\n");
	}
}

void
report_page(struct buf *b, struct report *r, const char *host, bool own)
{
	add_head(b, r, host, own);
	add_origin(b, r, host, own);
	add_summary(b, r);
	add_contents(b, r);
	buf_puts(b, "</header>\n");
	add_sections(b, r);
	buf_puts(b, "<footer>gpuhelper " GPUHELPER_VERSION ". To verify the log: gpuhelperctl audit verify.</footer>\n"
	    "</main>\n</body>\n</html>\n");
}
