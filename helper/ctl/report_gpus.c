/* See report.h: the section about each GPU. */
#include "report.h"

#include <stdlib.h>
#include <string.h>

#include "../pure/cleanup.h"

#define GPUS 64

/* The UUID in a name like "nvidia 0000:3b:00.0 GPU-... part 1g.5gb"; NULL: it has none. */
static const char *
find_uuid(const char *name)
{
	const char *at = strstr(name, " GPU-");

	return at != NULL ? at + 1 : NULL;
}

/* Adds such a name without the UUID. */
static void
add_short_name(struct buf *b, const char *name)
{
	const char *uuid = find_uuid(name), *part = strstr(name, " part ");

	if (uuid == NULL)
		buf_puts(b, name);
	else {
		buf_add(b, name, (size_t)(uuid - 1 - name));
		buf_puts(b, part != NULL ? part : "");
	}
}

static void
add_bars(struct buf *b, const struct report *r, size_t n)
{
	static const struct chart chart = { "by-gpu", "How busy each GPU was",
		"A bar for each GPU: the share of the period in which a container held it. The table below has the same numbers." };
	autofree struct chart_bar *bar = calloc(n, sizeof(*bar));
	autofree struct buf *text = calloc(2 * n, sizeof(*text));
	const int64_t period = r->to - r->from;
	const struct report_gpu *g;
	struct buf *name, *share;
	size_t i;

	for (i = 0; bar != NULL && text != NULL && i < n; i++) {
		g = r->gpus.v[i];
		name = &text[2 * i];
		share = &text[2 * i + 1];
		add_short_name(name, g->name);
		html_share(share, g->busy, period);
		b->failed |= name->failed || share->failed;
		bar[i] = (struct chart_bar){ name->p, share->p, period > 0 ? (double)g->busy / (double)period : 0 };
	}
	if (bar == NULL || text == NULL)
		b->failed = true;
	else if (!b->failed)
		chart_bars(b, &chart, bar, n);
	for (i = 0; text != NULL && i < 2 * n; i++)
		buf_free(&text[i]);
}

static void
add_row(struct table *t, const struct report *r, const struct report_gpu *g)
{
	autobuf struct buf name = { 0 }, uuid = { 0 };
	const char *at = find_uuid(g->name);

	add_short_name(&name, g->name);
	if (at != NULL)
		buf_add(&uuid, at, strcspn(at, " "));
	if (name.failed || uuid.failed) {
		t->b->failed = true;
		return;
	}
	table_row(t, name.p, uuid.p);
	table_share(t, g->busy, r->to - r->from);
	table_hours(t, g->busy);
	table_hours(t, g->seconds);
	table_count(t, g->grants);
}

bool
report_has_gpus(const struct report *r)
{
	return r->gpus.n > 0;
}

void
report_gpus(struct buf *b, struct report *r)
{
	static const char *const columns[] = { "GPU", "Held", "Hours held", "GPU hours", "Times granted", NULL };
	const size_t shown = r->gpus.n < GPUS ? r->gpus.n : GPUS;
	struct table t;
	size_t i;

	buf_puts(b, "<p class=\"soft\">The share of the period in which a container held it. GPUs and parts that no record "
	    "names are not listed.</p>\n");
	add_bars(b, r, shown);
	table_begin(&t, b, "GPUs", columns);
	for (i = 0; i < shown; i++)
		add_row(&t, r, r->gpus.v[i]);
	if (shown < r->gpus.n)
		table_more(&t, r->gpus.n - shown);
	table_end(&t);
}
