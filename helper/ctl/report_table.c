/*
 * See report.h: tables.  Each cell carries its column's name, which the style sheet shows on a narrow screen, where a
 * row is a small list.
 */
#include "report.h"

#include <string.h>

#define HEAD_SHOWN 24	/* characters of a column's name, which may be a pipeline's */
#define REASON_SHOWN 160

static const char *
column_name(const char *column)
{
	return *column == TABLE_WORDS[0] ? column + 1 : column;
}

void
table_begin(struct table *t, struct buf *b, const char *caption, const char *const *columns)
{
	*t = (struct table){ .b = b, .columns = columns };
	buf_printf(b, "<div class=\"scroll\" role=\"region\" aria-label=\"%s\" tabindex=\"0\"><table><caption>%s</caption>"
	    "<thead><tr>", caption, caption);
	for (; *columns != NULL; columns++) {
		buf_printf(b, "<th scope=\"col\"%s><bdi>", column_name(*columns) != *columns ? " class=\"t\"" : "");
		html_text_short(b, column_name(*columns), HEAD_SHOWN);
		buf_puts(b, "</bdi></th>");
	}
	buf_puts(b, "</tr></thead><tbody>\n");
}

/* Ends the last row, if there is one; cells that it lacks are empty. */
static void
end_row(struct table *t)
{
	if (t->at == 0)
		return;
	for (; t->columns[t->at] != NULL; t->at++)
		buf_puts(t->b, "<td></td>");
	buf_puts(t->b, "</tr>\n");
	t->at = 0;
}

void
table_row(struct table *t, const char *name, const char *below)
{
	end_row(t);
	t->at = 1;
	buf_puts(t->b, "<tr><th scope=\"row\"><bdi>");
	html_text(t->b, name);
	buf_puts(t->b, "</bdi>");
	if (below != NULL && *below != '\0') {
		buf_puts(t->b, "<small>");
		html_text(t->b, below);
		buf_puts(t->b, "</small>");
	}
	buf_puts(t->b, "</th>");
}

void
table_more(struct table *t, size_t n)
{
	end_row(t);
	t->at = 1;
	buf_puts(t->b, "<tr class=\"more\"><th scope=\"row\">");
	html_count(t->b, (int64_t)n);
	buf_puts(t->b, " more</th>");
}

static void
begin_cell(struct table *t, const char *attributes)
{
	buf_printf(t->b, "<td%s data-c=\"", attributes);
	html_text_short(t->b, column_name(t->columns[t->at++]), HEAD_SHOWN);
	buf_puts(t->b, "\">");
}

static void
end_cell(struct table *t)
{
	buf_puts(t->b, "</td>");
}

void
table_count(struct table *t, size_t n)
{
	begin_cell(t, "");
	html_count(t->b, (int64_t)n);
	end_cell(t);
}

void
table_hours(struct table *t, int64_t seconds)
{
	begin_cell(t, "");
	html_hours(t->b, seconds);
	end_cell(t);
}

void
table_share(struct table *t, int64_t part, int64_t whole)
{
	begin_cell(t, "");
	html_share(t->b, part, whole);
	end_cell(t);
}

void
table_duration(struct table *t, int64_t seconds)
{
	begin_cell(t, "");
	html_duration(t->b, seconds);
	end_cell(t);
}

void
table_time(struct table *t, int64_t seconds)
{
	char when[32];

	text_time(seconds, when);
	begin_cell(t, "");
	buf_printf(t->b, "%.10s %.5s", when, when + 11);
	end_cell(t);
}

void
table_text(struct table *t, const char *text)
{
	begin_cell(t, " class=\"t w\"");
	buf_puts(t->b, "<bdi>");
	html_text_short(t->b, text, REASON_SHOWN);
	buf_puts(t->b, "</bdi>");
	end_cell(t);
}

void
table_end(struct table *t)
{
	end_row(t);
	buf_puts(t->b, "</tbody></table></div>\n");
}
