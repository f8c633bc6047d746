/*
 * See report.h: tables.  Each cell carries its column's name, which the style sheet shows on a narrow screen, where a
 * row is a small list.
 */
#include "report.h"

#define HEAD_SHOWN 24	/* characters of a column's name, which may be a pipeline's */
#define REASON_SHOWN 160

size_t
report_sort_kinds(const size_t denied[AUDIT_KINDS], size_t out[AUDIT_KINDS])
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

/* True for cells of words, which begin at the left. */
static bool
has_words(const struct table_column *c)
{
	return c->cell == CELL_TEXT || c->cell == CELL_KINDS;
}

static void
add_head(struct buf *b, const struct table *t)
{
	const struct table_column *c;

	buf_printf(b, "<div class=\"scroll\" role=\"region\" aria-label=\"%s\" tabindex=\"0\"><table><caption>%s</caption>"
	    "<thead><tr><th scope=\"col\"><bdi>%s</bdi></th>", t->caption, t->caption, t->names);
	for (c = t->column; c < t->column + t->columns; c++) {
		buf_printf(b, "<th scope=\"col\"%s><bdi>", has_words(c) ? " class=\"t\"" : "");
		html_text_short(b, c->name, HEAD_SHOWN);
		buf_puts(b, "</bdi></th>");
	}
	buf_puts(b, "</tr></thead><tbody>\n");
}

static void
add_kinds(struct buf *b, const size_t denied[AUDIT_KINDS])
{
	autobuf struct buf words = { 0 };
	size_t kind[AUDIT_KINDS], i;
	const size_t n = report_sort_kinds(denied, kind);

	for (i = 0; i < n; i++)
		buf_printf(&words, "%s%s %zu", i > 0 ? ", " : "", audit_kinds[kind[i]].name, denied[kind[i]]);
	b->failed |= words.failed;
	if (!words.failed && words.p != NULL)
		html_text_short(b, words.p, REASON_SHOWN);
}

static void
add_time(struct buf *b, int64_t seconds)
{
	char when[32];

	text_time(seconds, when);
	buf_printf(b, "%.10s %.5s", when, when + 11);
}

/* A difference of two percentages, with its sign. */
static void
add_points(struct buf *b, double points)
{
	if (points > -0.05 && points < 0.05)
		buf_puts(b, "0.0");
	else
		buf_printf(b, "%+.1f", points);
}

static void
add_value(struct buf *b, const struct table *t, enum table_cell cell, const void *at)
{
	switch (cell) {
	case CELL_COUNT:
		html_count(b, (int64_t)*(const size_t *)at);
		return;
	case CELL_HOURS:
		html_hours(b, *(const int64_t *)at);
		return;
	case CELL_PARTS:
		html_hours(b, (int64_t)(*(const double *)at * 3600 + 0.5));
		return;
	case CELL_PERCENT:
		html_share(b, (int64_t)(*(const double *)at * 1000 + 0.5), 100000);
		return;
	case CELL_POINTS:
		add_points(b, *(const double *)at);
		return;
	case CELL_SHARE:
		html_share(b, *(const int64_t *)at, t->whole);
		return;
	case CELL_SHARE_OF_COUNT:
		html_share(b, (int64_t)*(const size_t *)at, t->whole);
		return;
	case CELL_DURATION:
		html_duration(b, *(const int64_t *)at);
		return;
	case CELL_TIME:
		add_time(b, *(const int64_t *)at);
		return;
	case CELL_TEXT:
		html_text_short(b, at, REASON_SHOWN);
		return;
	case CELL_KINDS:
		add_kinds(b, at);
	}
}

static void
add_cells(struct buf *b, const struct table *t, const void *row)
{
	const struct table_column *c;
	const char *at;

	for (c = t->column; c < t->column + t->columns; c++) {
		at = row != NULL ? (const char *)row + c->at : NULL;
		if (at == NULL || (c->cell == CELL_TEXT && *at == '\0')) {
			buf_puts(b, "<td></td>");
			continue;
		}
		buf_printf(b, "<td%s data-c=\"", has_words(c) ? " class=\"t w\"" : "");
		html_text_short(b, c->name, HEAD_SHOWN);
		buf_puts(b, has_words(c) ? "\"><bdi>" : "\">");
		add_value(b, t, c->cell, at);
		buf_puts(b, has_words(c) ? "</bdi></td>" : "</td>");
	}
	buf_puts(b, "</tr>\n");
}

static void
add_row(struct buf *b, const struct table *t, const void *row)
{
	autobuf struct buf below = { 0 };

	buf_puts(b, "<tr><th scope=\"row\"><bdi>");
	if (t->name != NULL)
		t->name(b, row);
	else
		html_text(b, *(char *const *)row);
	buf_puts(b, "</bdi>");
	if (t->below != NULL)
		t->below(&below, row);
	b->failed |= below.failed;
	if (below.len > 0)
		buf_printf(b, "<small>%s</small>", below.p);
	buf_puts(b, "</th>");
	add_cells(b, t, row);
}

void
table_add(struct buf *b, const struct table *t, const void *const *row, size_t n, size_t most, const void *rest)
{
	size_t i;

	add_head(b, t);
	for (i = 0; i < n && i < most; i++)
		add_row(b, t, row[i]);
	if (n > most) {
		buf_puts(b, "<tr class=\"more\"><th scope=\"row\">");
		html_count(b, (int64_t)(n - most));
		buf_puts(b, " more</th>");
		add_cells(b, t, rest);
	}
	buf_puts(b, "</tbody></table></div>\n");
}
