/* See report.h: the section about instances of pipelines.  Usually each pull request is an instance. */
#include "report.h"

#include <stddef.h>

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
	static const struct table_column columns[] = {
		{ "GPU hours", CELL_HOURS, offsetof(struct report_instance, seconds) },
		{ "Grants", CELL_COUNT, offsetof(struct report_instance, grants) },
		{ "Denials", CELL_COUNT, offsetof(struct report_instance, denials) },
		{ "Last denial's reason", CELL_TEXT, offsetof(struct report_instance, reason) },
	};
	static const struct table table = { .caption = "Instances, the most GPU time first", .names = "Instance",
		.column = columns, .columns = 4 };

	buf_puts(b, "<p class=\"soft\">Pipelines with instance variables; pull requests usually have them. «A claim» means "
	    "that the container claimed the instance without proof.</p>\n");
	table_add(b, &table, (const void *const *)r->instances.v, used_instances(r), ROWS, NULL);
}
