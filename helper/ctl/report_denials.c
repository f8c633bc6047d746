/* See report.h: the sections about waits and denials. */
#include "report.h"

#include <stdlib.h>
#include <string.h>

#include "../pure/cleanup.h"

#define BARS 10
#define ROWS 25
#define USERS 10
#define REASON_SHOWN 160	/* characters */

/* Adds a bar chart of counts.  The largest gets the full width. */
static void
add_count_bars(struct buf *b, const struct chart *chart, const char *const *name, const size_t *count, size_t n)
{
	struct chart_bar bar[BARS] = { 0 };
	struct buf value[BARS] = { 0 };
	size_t i, most = 1;

	for (i = 0; i < n; i++)
		most = count[i] > most ? count[i] : most;
	for (i = 0; i < n; i++) {
		html_count(&value[i], (int64_t)count[i]);
		b->failed |= value[i].failed;
		bar[i] = (struct chart_bar){ name[i], value[i].p, (double)count[i] / (double)most };
	}
	if (!b->failed)
		chart_bars(b, chart, bar, n);
	for (i = 0; i < n; i++)
		buf_free(&value[i]);
}

static void
add_count(struct buf *b, size_t n)
{
	buf_puts(b, "<td>");
	html_count(b, (int64_t)n);
	buf_puts(b, "</td>");
}

static void
add_name(struct buf *b, const char *name)
{
	buf_puts(b, "<tr><th scope=\"row\"><bdi>");
	html_text(b, name);
	buf_puts(b, "</bdi></th>");
}

static void
add_duration(struct buf *b, int64_t seconds)
{
	buf_puts(b, "<td>");
	html_duration(b, seconds);
	buf_puts(b, "</td>");
}

/* Waits */

static int
by_waited(const void *a, const void *b)
{
	const struct report_pipeline *x = *(void *const *)a, *y = *(void *const *)b;

	if (x->waited != y->waited)
		return x->waited < y->waited ? 1 : -1;
	if (x->abandoned != y->abandoned)
		return x->abandoned < y->abandoned ? 1 : -1;
	return strcmp(x->name, y->name);
}

static void
add_waiting_pipelines(struct buf *b, const struct report_pipeline *const *p, size_t n)
{
	static const char *const columns[] = { "Pipeline", "Grants that waited", "Mean wait", "Longest wait", "Total",
		"Abandoned waits", NULL };
	const size_t shown = n < ROWS ? n : ROWS;
	size_t i;

	html_table(b, "Waits by pipeline, the longest total first", columns);
	for (i = 0; i < shown; i++) {
		add_name(b, p[i]->name);
		add_count(b, p[i]->waits);
		add_duration(b, p[i]->waits > 0 ? p[i]->waited / (int64_t)p[i]->waits : 0);
		add_duration(b, p[i]->longest);
		add_duration(b, p[i]->waited);
		add_count(b, p[i]->abandoned);
		buf_puts(b, "</tr>\n");
	}
	if (shown < n) {
		html_more(b, n - shown);
		buf_puts(b, "<td></td><td></td><td></td><td></td><td></td></tr>\n");
	}
	html_table_end(b);
}

static void
add_wait_table(struct buf *b, const struct report *r)
{
	autofree const struct report_pipeline **p = calloc(r->pipelines.n, sizeof(*p));
	size_t i, n = 0;

	if (p == NULL) {
		b->failed = true;
		return;
	}
	for (i = 0; i < r->pipelines.n; i++)
		if (((const struct report_pipeline *)r->pipelines.v[i])->waits > 0 ||
		    ((const struct report_pipeline *)r->pipelines.v[i])->abandoned > 0)
			p[n++] = r->pipelines.v[i];
	if (n == 0)
		return;
	qsort(p, n, sizeof(struct report_pipeline *), by_waited);
	add_waiting_pipelines(b, p, n);
}

static void
add_granted_waits(struct buf *b, const struct report *r, size_t waits)
{
	if (waits == 0) {
		buf_puts(b, "<p class=\"soft\">No grant in this period waited for a GPU.</p>\n");
		return;
	}
	buf_puts(b, "<p class=\"soft\">");
	html_count(b, (int64_t)waits);
	buf_puts(b, waits == 1 ? " grant waited for a GPU for a second or longer, " :
	    " grants waited for a GPU for a second or longer, ");
	html_duration(b, r->waited / (int64_t)waits);
	buf_puts(b, " on average. A container or task that got no GPU in time is a denial (busy). The pipeline with the "
	    "longest total wait comes first.</p>\n");
}

static void
add_abandoned_waits(struct buf *b, const struct report *r)
{
	if (r->abandoned == 0)
		return;
	buf_puts(b, "<p class=\"soft\">");
	html_count(b, (int64_t)r->abandoned);
	buf_puts(b, r->abandoned == 1 ? " wait was abandoned before its turn, after " :
	    " waits were abandoned before their turn, after ");
	html_duration(b, r->waited_in_vain / (int64_t)r->abandoned);
	buf_puts(b, r->abandoned == 1 ? ".</p>\n" : " on average.</p>\n");
}

void
report_section_waits(struct buf *b, const struct report *r)
{
	static const struct chart chart = { "waits", "Grants by how long they waited",
		"A bar for each range of waiting times, with the number of grants that waited so long." };
	const char *name[WAITS];
	size_t i, waits = 0;

	for (i = 0; i < WAITS; i++) {
		name[i] = report_waits[i].name;
		waits += r->waits[i];
	}
	buf_puts(b, "<section><h2>Waits</h2>\n");
	add_granted_waits(b, r, waits);
	add_abandoned_waits(b, r);
	if (waits > 0)
		add_count_bars(b, &chart, name, r->waits, WAITS);
	add_wait_table(b, r);
	buf_puts(b, "</section>\n");
}

/* Denials */

/* The indexes of the reasons that occur, the most frequent first. */
static size_t
find_reasons(const struct report *r, size_t out[AUDIT_REASONS])
{
	size_t i, k, n = 0;

	for (i = 0; i < AUDIT_REASONS; i++) {
		if (r->denied[i] == 0)
			continue;
		for (k = n++; k > 0 && r->denied[out[k - 1]] < r->denied[i]; k--)
			out[k] = out[k - 1];
		out[k] = i;
	}
	return n;
}

static void
add_reasons(struct buf *b, const struct report *r, const size_t *reason, size_t n)
{
	static const struct chart chart = { "by-reason", "Denials by reason",
		"A bar for each reason, the most frequent first. The table below has the same numbers." };
	static const char *const columns[] = { "Reason", "Denials", "Share", NULL };
	const char *name[AUDIT_REASONS] = { 0 };
	size_t count[AUDIT_REASONS] = { 0 }, i;

	for (i = 0; i < n; i++) {
		name[i] = audit_reasons[reason[i]].name;
		count[i] = r->denied[reason[i]];
	}
	buf_puts(b, "<h3>By reason</h3>\n");
	add_count_bars(b, &chart, name, count, n);
	html_table(b, "Denials by reason", columns);
	for (i = 0; i < n; i++) {
		buf_printf(b, "<tr><th scope=\"row\">%s<small>%s</small></th>", name[i], audit_reasons[reason[i]].meaning);
		add_count(b, count[i]);
		buf_puts(b, "<td>");
		html_share(b, (int64_t)count[i], (int64_t)r->denials);
		buf_puts(b, "</td></tr>\n");
	}
	html_table_end(b);
}

static void
add_pipeline_row(struct buf *b, const struct report_pipeline *p, const size_t *reason, size_t n)
{
	size_t k;

	add_count(b, p->denials);
	for (k = 0; k < n; k++)
		add_count(b, p->denied[reason[k]]);
	buf_puts(b, "</tr>\n");
}

static void
add_denied_table(struct buf *b, const struct report *r, size_t pipelines, const size_t *reason, size_t n)
{
	const char *columns[AUDIT_REASONS + 3] = { "Pipeline", "Denials" };
	const size_t shown = pipelines < ROWS ? pipelines : ROWS;
	struct report_pipeline rest = { .denials = 0 };
	const struct report_pipeline *p;
	size_t i, k;

	for (k = 0; k < n; k++)
		columns[2 + k] = audit_reasons[reason[k]].name;
	html_table(b, "Denials by pipeline and reason", columns);
	for (i = 0; i < shown; i++) {
		p = r->pipelines.v[i];
		add_name(b, p->name);
		add_pipeline_row(b, p, reason, n);
	}
	for (; i < pipelines; i++) {
		p = r->pipelines.v[i];
		rest.denials += p->denials;
		for (k = 0; k < AUDIT_REASONS; k++)
			rest.denied[k] += p->denied[k];
	}
	if (shown < pipelines) {
		html_more(b, pipelines - shown);
		add_pipeline_row(b, &rest, reason, n);
	}
	html_table_end(b);
}

static void
add_denied(struct buf *b, const struct report *r, const size_t *reason, size_t n)
{
	static const struct chart chart = { "denied", "Denials by pipeline",
		"A bar for each pipeline, the one that was denied most first. The table below has the same numbers." };
	const struct report_pipeline *p;
	const char *name[BARS] = { 0 };
	size_t count[BARS] = { 0 }, i, pipelines;

	for (pipelines = 0; pipelines < r->pipelines.n; pipelines++) {
		p = r->pipelines.v[pipelines];
		if (p->denials == 0)
			break;
		if (pipelines < BARS) {
			name[pipelines] = p->name;
			count[pipelines] = p->denials;
		}
	}
	i = pipelines < BARS ? pipelines : BARS;
	buf_puts(b, "<h3>By pipeline</h3>\n<p class=\"soft\">Without a token that proves it, the pipeline is the one that "
	    "the container claimed.</p>\n");
	add_count_bars(b, &chart, name, count, i);
	add_denied_table(b, r, pipelines, reason, n);
}

static void
add_users(struct buf *b, const struct report *r)
{
	static const char *const columns[] = { "User", "Denials", "Last denial", HTML_WORDS "Its reason", NULL };
	const size_t shown = r->users.n < USERS ? r->users.n : USERS;
	const struct report_user *u;
	char when[32];
	size_t i;

	buf_puts(b, "<h3>Users with the most denials</h3>\n<p class=\"soft\">The users of this host who run the containers. A "
	    "worker's user is counted for all of the worker's pipelines.</p>\n");
	html_table(b, "Users of the host by denials", columns);
	for (i = 0; i < shown; i++) {
		u = r->users.v[i];
		add_name(b, u->name);
		add_count(b, u->denials);
		text_time(u->last, when);
		buf_printf(b, "<td>%.10s %.5s</td><td class=\"t w\"><bdi>", when, when + 11);
		html_text_short(b, u->reason, REASON_SHOWN);
		buf_puts(b, "</bdi></td></tr>\n");
	}
	if (shown < r->users.n) {
		html_more(b, r->users.n - shown);
		buf_puts(b, "<td></td><td></td><td></td></tr>\n");
	}
	html_table_end(b);
}

void
report_section_denials(struct buf *b, struct report *r)
{
	size_t reason[AUDIT_REASONS], n;

	buf_puts(b, "<section><h2>Denials</h2>\n");
	if (r->denials == 0) {
		buf_puts(b, "<p class=\"soft\">No request was denied in this period.</p></section>\n");
		return;
	}
	n = find_reasons(r, reason);
	report_sort_denied(&r->pipelines);
	add_reasons(b, r, reason, n);
	add_denied(b, r, reason, n);
	add_users(b, r);
	buf_puts(b, "</section>\n");
}
