/* See report.h: the section about instances of pipelines.  Usually each pull request is an instance. */
#include "report.h"

#include <stdlib.h>
#include <string.h>

#define ROWS 50
#define REASON_SHOWN 160	/* characters */
#define NAME_SHOWN 200

static void
add_cell_count(struct buf *b, size_t n)
{
	buf_puts(b, "<td>");
	html_count(b, (int64_t)n);
	buf_puts(b, "</td>");
}

static void
add_row(struct buf *b, const struct report_instance *i)
{
	buf_puts(b, "<tr><th scope=\"row\"><bdi>");
	html_text_short(b, i->name, NAME_SHOWN);
	buf_puts(b, "</bdi></th><td>");
	html_hours(b, i->seconds);
	buf_puts(b, "</td>");
	add_cell_count(b, i->grants);
	add_cell_count(b, i->denials);
	buf_puts(b, "<td class=\"t w\"><bdi>");
	html_text_short(b, i->reason, REASON_SHOWN);
	buf_puts(b, "</bdi></td></tr>\n");
}

static bool
is_empty(const struct report_instance *i)
{
	return i->seconds == 0 && i->grants == 0 && i->denials == 0;
}

void
report_section_instances(struct buf *b, const struct report *r)
{
	static const char *const columns[] = { "Instance", "GPU hours", "Grants", "Denials", HTML_WORDS "Last denial's reason",
		NULL };
	size_t i, shown, n = r->instances.n;

	/* instances without use in the period are sorted last: leave them out */
	while (n > 0 && is_empty(r->instances.v[n - 1]))
		n--;
	if (n == 0)
		return;
	shown = n < ROWS ? n : ROWS;
	buf_puts(b, "<section><h2>Instances of pipelines</h2>\n<p class=\"soft\">Pipelines with instance variables; pull "
	    "requests usually have them. «A claim» means that the container claimed the instance without proof.</p>\n");
	html_table(b, "Instances, the most GPU time first", columns);
	for (i = 0; i < shown; i++)
		add_row(b, r->instances.v[i]);
	if (shown < n) {
		html_more(b, n - shown);
		buf_puts(b, "<td></td><td></td><td></td><td></td></tr>\n");
	}
	html_table_end(b);
	buf_puts(b, "</section>\n");
}
