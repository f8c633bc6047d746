/* See report.h: the section about each GPU. */
#include "report.h"

#include <stdlib.h>
#include <string.h>

#include "../pure/cleanup.h"

#define GPUS 64

/*
 * Splits a name like "nvidia 0000:3b:00.0 GPU-... part 1g.5gb": out has it without the UUID, and uuid has that, or
 * nothing.
 */
static void
split_name(const char *name, struct buf *out, struct buf *uuid)
{
	const char *at = strstr(name, " GPU-"), *part = strstr(name, " part ");
	size_t len;

	if (at == NULL) {
		buf_puts(out, name);
		buf_puts(uuid, "");
		return;
	}
	len = strcspn(at + 1, " ");
	buf_add(out, name, (size_t)(at - name));
	buf_puts(out, part != NULL ? part : "");
	buf_add(uuid, at + 1, len);
}

static void
add_bars(struct buf *b, const struct report *r, size_t n)
{
	static const struct chart chart = { "by-gpu", "How busy each GPU was",
		"A bar for each GPU: the share of the period in which a container held it. The table below has the same numbers." };
	autofree struct chart_bar *bar = calloc(n, sizeof(*bar));
	autofree struct buf *text = calloc(3 * n, sizeof(*text));
	const int64_t period = r->to - r->from;
	const struct report_gpu *g;
	struct buf *name, *share;
	size_t i;

	for (i = 0; bar != NULL && text != NULL && i < n; i++) {
		g = r->gpus.v[i];
		name = &text[3 * i];
		share = &text[3 * i + 1];
		split_name(g->name, name, &text[3 * i + 2]);
		html_share(share, g->busy, period);
		b->failed |= name->failed || share->failed;
		bar[i] = (struct chart_bar){ name->p, share->p, period > 0 ? (double)g->busy / (double)period : 0 };
	}
	if (bar == NULL || text == NULL)
		b->failed = true;
	else if (!b->failed)
		chart_bars(b, &chart, bar, n);
	for (i = 0; text != NULL && i < 3 * n; i++)
		buf_free(&text[i]);
}

static void
add_row(struct table *t, const struct report *r, const struct report_gpu *g)
{
	autobuf struct buf name = { 0 }, uuid = { 0 };

	split_name(g->name, &name, &uuid);
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
