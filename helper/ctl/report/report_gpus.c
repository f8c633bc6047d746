/* See report.h: the section about each GPU. */
#include "report.h"

#include <stddef.h>
#include <string.h>

#include "../../base/cleanup.h"

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
add_name(struct buf *b, const void *row)
{
	autobuf struct buf name = { 0 };

	add_short_name(&name, ((const struct report_gpu *)row)->name);
	b->failed |= name.failed;
	if (!name.failed)
		html_text(b, name.p);
}

static void
add_uuid(struct buf *b, const void *row)
{
	const char *at = find_uuid(((const struct report_gpu *)row)->name);
	autofree char *uuid = at != NULL ? strndup(at, strcspn(at, " ")) : NULL;

	b->failed |= at != NULL && uuid == NULL;
	if (uuid != NULL)
		html_text(b, uuid);
}

static void
add_bars(struct buf *b, const struct report *r, size_t n)
{
	static const struct chart chart = { "by-gpu", "How busy each GPU was",
		"A bar for each GPU: the share of the period in which a container held it. The table below has the same numbers." };
	struct chart_bar bar[GPUS] = { 0 };
	struct buf name[GPUS] = { 0 };
	const struct report_gpu *g;
	size_t i;

	for (i = 0; i < n; i++) {
		g = r->gpus.v[i];
		add_short_name(&name[i], g->name);
		b->failed |= name[i].failed;
		bar[i] = (struct chart_bar){ name[i].p, g->busy };
	}
	if (!b->failed)
		chart_bars(b, &chart, CHART_SHARE, bar, n, r->to - r->from);
	for (i = 0; i < n; i++)
		buf_free(&name[i]);
}

bool
report_has_gpus(const struct report *r)
{
	return r->gpus.n > 0;
}

void
report_gpus(struct buf *b, struct report *r)
{
	static const struct table_column columns[] = {
		{ "Held", CELL_SHARE, offsetof(struct report_gpu, busy) },
		{ "Hours held", CELL_HOURS, offsetof(struct report_gpu, busy) },
		{ "GPU hours", CELL_HOURS, offsetof(struct report_gpu, seconds) },
		{ "Times granted", CELL_COUNT, offsetof(struct report_gpu, grants) },
	};
	const struct table table = { "GPUs", "GPU", TABLE_COLUMNS(columns), r->to - r->from, add_name, add_uuid };

	buf_puts(b, "<p class=\"soft\">The share of the period in which a container held it. GPUs and parts that no record "
	    "names are not listed.</p>\n");
	add_bars(b, r, r->gpus.n < GPUS ? r->gpus.n : GPUS);
	table_add(b, &table, (const void *const *)r->gpus.v, r->gpus.n, GPUS, NULL);
}
