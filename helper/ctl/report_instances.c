/* See report.h: the section about instances of pipelines.  Usually each pull request is an instance. */
#include "report.h"

#define ROWS 50

static bool
is_empty(const struct report_instance *i)
{
	return i->seconds == 0 && i->grants == 0 && i->denials == 0;
}

/* The instances with use in the period: the others are sorted last. */
static size_t
used_instances(const struct report *r)
{
	size_t n = r->instances.n;

	while (n > 0 && is_empty(r->instances.v[n - 1]))
		n--;
	return n;
}

bool
report_has_instances(const struct report *r)
{
	return used_instances(r) > 0;
}

void
report_instances(struct buf *b, struct report *r)
{
	static const char *const columns[] = { "Instance", "GPU hours", "Grants", "Denials",
		TABLE_WORDS "Last denial's reason", NULL };
	const size_t n = used_instances(r), shown = n < ROWS ? n : ROWS;
	const struct report_instance *it;
	struct table t;
	size_t i;

	buf_puts(b, "<p class=\"soft\">Pipelines with instance variables; pull requests usually have them. «A claim» means "
	    "that the container claimed the instance without proof.</p>\n");
	table_begin(&t, b, "Instances, the most GPU time first", columns);
	for (i = 0; i < shown; i++) {
		it = r->instances.v[i];
		table_row(&t, it->name, NULL);
		table_hours(&t, it->seconds);
		table_count(&t, it->grants);
		table_count(&t, it->denials);
		table_text(&t, it->reason);
	}
	if (shown < n)
		table_more(&t, n - shown);
	table_end(&t);
}
