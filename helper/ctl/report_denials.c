/* See report.h: the section about denials. */
#include "report.h"

#define BARS 10
#define ROWS 25
#define USERS 10

/* The kinds that occur, the most frequent first. */
static size_t
sort_kinds(const size_t denied[AUDIT_KINDS], size_t out[AUDIT_KINDS])
{
	size_t i, k, n = 0;

	for (i = 0; i < AUDIT_KINDS; i++) {
		if (denied[i] == 0)
			continue;
		for (k = n++; k > 0 && denied[out[k - 1]] < denied[i]; k--)
			out[k] = out[k - 1];
		out[k] = i;
	}
	return n;
}

static void
add_kinds(struct buf *b, const struct report *r)
{
	static const struct chart chart = { "by-reason", "Denials by reason",
		"A bar for each reason, the most frequent first. The table below has the same numbers." };
	static const char *const columns[] = { "Reason", "Denials", "Share", NULL };
	const char *name[AUDIT_KINDS] = { 0 };
	size_t count[AUDIT_KINDS] = { 0 }, kind[AUDIT_KINDS], i;
	const size_t n = sort_kinds(r->denied, kind);
	struct table t;

	for (i = 0; i < n; i++) {
		name[i] = audit_kinds[kind[i]].name;
		count[i] = r->denied[kind[i]];
	}
	buf_puts(b, "<h3>By reason</h3>\n");
	chart_counts(b, &chart, name, count, n);
	table_begin(&t, b, "Denials by reason", columns);
	for (i = 0; i < n; i++) {
		table_row(&t, name[i], audit_kinds[kind[i]].meaning);
		table_count(&t, count[i]);
		table_share(&t, (int64_t)count[i], (int64_t)r->denials);
	}
	table_end(&t);
}

/* Adds a cell like «policy 7, busy 2». */
static void
add_reasons(struct table *t, const size_t denied[AUDIT_KINDS])
{
	autobuf struct buf words = { 0 };
	size_t kind[AUDIT_KINDS], i;
	const size_t n = sort_kinds(denied, kind);

	for (i = 0; i < n; i++) {
		buf_puts(&words, i > 0 ? ", " : "");
		buf_printf(&words, "%s %zu", audit_kinds[kind[i]].name, denied[kind[i]]);
	}
	t->b->failed |= words.failed;
	table_text(t, words.failed || words.p == NULL ? "" : words.p);
}

static void
add_table(struct buf *b, const struct report *r, size_t pipelines)
{
	static const char *const columns[] = { "Pipeline", "Denials", TABLE_WORDS "Reasons",
		TABLE_WORDS "The last one", NULL };
	const size_t shown = pipelines < ROWS ? pipelines : ROWS;
	struct report_pipeline rest = { .denials = 0 };
	const struct report_pipeline *p;
	struct table t;
	size_t i, k;

	table_begin(&t, b, "Denials by pipeline and reason", columns);
	for (i = 0; i < shown; i++) {
		p = r->pipelines.v[i];
		table_row(&t, p->name, NULL);
		table_count(&t, p->denials);
		add_reasons(&t, p->denied);
		table_text(&t, p->reason);
	}
	for (; i < pipelines; i++) {
		p = r->pipelines.v[i];
		rest.denials += p->denials;
		for (k = 0; k < AUDIT_KINDS; k++)
			rest.denied[k] += p->denied[k];
	}
	if (shown < pipelines) {
		table_more(&t, pipelines - shown);
		table_count(&t, rest.denials);
		add_reasons(&t, rest.denied);
	}
	table_end(&t);
}

static void
add_pipelines(struct buf *b, const struct report *r)
{
	static const struct chart chart = { "denied", "Denials by pipeline",
		"A bar for each pipeline, the one that was denied most first. The table below has the same numbers." };
	const struct report_pipeline *p;
	const char *name[BARS] = { 0 };
	size_t count[BARS] = { 0 }, n;

	for (n = 0; n < r->pipelines.n; n++) {
		p = r->pipelines.v[n];
		if (p->denials == 0)
			break;
		if (n < BARS) {
			name[n] = p->name;
			count[n] = p->denials;
		}
	}
	buf_puts(b, "<h3>By pipeline</h3>\n<p class=\"soft\">Without a token that proves it, the pipeline is the one that "
	    "the container claimed.</p>\n");
	chart_counts(b, &chart, name, count, n < BARS ? n : BARS);
	add_table(b, r, n);
}

static void
add_users(struct buf *b, const struct report *r)
{
	static const char *const columns[] = { "User", "Denials", "Last denial", TABLE_WORDS "Its reason", NULL };
	const size_t shown = r->users.n < USERS ? r->users.n : USERS;
	const struct report_user *u;
	struct table t;
	size_t i;

	buf_puts(b, "<h3>Users with the most denials</h3>\n<p class=\"soft\">The users of this host who run the containers. A "
	    "worker's user is counted for all of the worker's pipelines.</p>\n");
	table_begin(&t, b, "Users of the host by denials", columns);
	for (i = 0; i < shown; i++) {
		u = r->users.v[i];
		table_row(&t, u->name, NULL);
		table_count(&t, u->denials);
		table_time(&t, u->last);
		table_text(&t, u->reason);
	}
	if (shown < r->users.n)
		table_more(&t, r->users.n - shown);
	table_end(&t);
}

void
report_denials(struct buf *b, struct report *r)
{
	if (r->denials == 0) {
		buf_puts(b, "<p class=\"soft\">No request was denied in this period.</p>\n");
		return;
	}
	report_sort_denied(&r->pipelines);
	add_kinds(b, r);
	add_pipelines(b, r);
	add_users(b, r);
}
