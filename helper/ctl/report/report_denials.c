/* See report.h: the section about denials. */
#include "report.h"

#include <stddef.h>

#define BARS 10
#define ROWS 25
#define USERS 10

/* A row of the table of reasons. */
struct reason {
	const char *name;
	size_t denials;
	const char *meaning;
};

static void
add_meaning(struct buf *b, const void *row)
{
	html_text(b, ((const struct reason *)row)->meaning);
}

static void
add_kinds(struct buf *b, const struct report *r)
{
	static const struct chart chart = { "by-reason", "Denials by reason",
		"A bar for each reason, the most frequent first. The table below has the same numbers." };
	static const struct table_column columns[] = {
		{ "Denials", CELL_COUNT, offsetof(struct reason, denials) },
		{ "Share", CELL_SHARE_OF_COUNT, offsetof(struct reason, denials) },
	};
	const struct table table = { "Denials by reason", "Reason", TABLE_COLUMNS(columns), (int64_t)r->denials, NULL,
		add_meaning };
	struct chart_bar bar[AUDIT_KINDS];
	struct reason reason[AUDIT_KINDS];
	const void *row[AUDIT_KINDS];
	size_t kind[AUDIT_KINDS], i;
	const size_t n = report_sort_kinds(r->denied, kind);

	for (i = 0; i < n; i++) {
		reason[i] = (struct reason){ audit_kinds[kind[i]].name, r->denied[kind[i]], audit_kinds[kind[i]].meaning };
		bar[i] = (struct chart_bar){ reason[i].name, (int64_t)reason[i].denials };
		row[i] = &reason[i];
	}
	buf_puts(b, "<h3>By reason</h3>\n");
	chart_bars(b, &chart, CHART_COUNT, bar, n, 0);
	table_add(b, &table, row, n, AUDIT_KINDS, NULL);
}

static void
add_table(struct buf *b, const struct report *r, size_t pipelines)
{
	static const struct table_column columns[] = {
		{ "Denials", CELL_COUNT, offsetof(struct report_pipeline, denials) },
		{ "Reasons", CELL_KINDS, offsetof(struct report_pipeline, denied) },
		{ "The last one", CELL_TEXT, offsetof(struct report_pipeline, reason) },
	};
	static const struct table table = { .caption = "Denials by pipeline and reason", .names = "Pipeline",
		.column = columns, .columns = 3 };
	struct report_pipeline rest = { .denials = 0 };
	const struct report_pipeline *p;
	size_t i, k;

	for (i = ROWS; i < pipelines; i++) {
		p = r->pipelines.v[i];
		rest.denials += p->denials;
		for (k = 0; k < AUDIT_KINDS; k++)
			rest.denied[k] += p->denied[k];
	}
	table_add(b, &table, (const void *const *)r->pipelines.v, pipelines, ROWS, &rest);
}

static void
add_pipelines(struct buf *b, const struct report *r)
{
	static const struct chart chart = { "denied", "Denials by pipeline",
		"A bar for each pipeline, the one that was denied most first. The table below has the same numbers." };
	const struct report_pipeline *p;
	struct chart_bar bar[BARS];
	size_t n;

	for (n = 0; n < r->pipelines.n; n++) {
		p = r->pipelines.v[n];
		if (p->denials == 0)
			break;
		if (n < BARS)
			bar[n] = (struct chart_bar){ p->name, (int64_t)p->denials };
	}
	buf_puts(b, "<h3>By pipeline</h3>\n<p class=\"soft\">Without a token that proves it, the pipeline is the one that "
	    "the container claimed.</p>\n");
	chart_bars(b, &chart, CHART_COUNT, bar, n < BARS ? n : BARS, 0);
	add_table(b, r, n);
}

static void
add_users(struct buf *b, const struct report *r)
{
	static const struct table_column columns[] = {
		{ "Denials", CELL_COUNT, offsetof(struct report_user, denials) },
		{ "Last denial", CELL_TIME, offsetof(struct report_user, last) },
		{ "Its reason", CELL_TEXT, offsetof(struct report_user, reason) },
	};
	static const struct table table = { .caption = "Users of the host by denials", .names = "User", .column = columns,
		.columns = 3 };

	buf_puts(b, "<h3>Users with the most denials</h3>\n<p class=\"soft\">The users of this host who run the containers. A "
	    "worker's user is counted for all of the worker's pipelines.</p>\n");
	table_add(b, &table, (const void *const *)r->users.v, r->users.n, USERS, NULL);
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
