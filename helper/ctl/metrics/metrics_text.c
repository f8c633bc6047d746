/* See metrics.h.  Writes Prometheus's text format 0.0.4 («Exposition formats» in Prometheus's documentation). */
#include "metrics.h"

void
metric_begin(struct buf *b, const char *name, const char *type, const char *help)
{
	buf_printf(b, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

/* Adds a label's value.  The format escapes only these three characters. */
static void
add_value(struct buf *b, const char *value)
{
	for (; *value != '\0'; value++)
		switch (*value) {
		case '\\':
			buf_puts(b, "\\\\");
			break;
		case '"':
			buf_puts(b, "\\\"");
			break;
		case '\n':
			buf_puts(b, "\\n");
			break;
		default:
			buf_add(b, value, 1);
		}
}

void
metric_add(struct buf *b, const char *name, int64_t value, const char *const *labels)
{
	const char *before = "{";

	buf_puts(b, name);
	for (; labels != NULL && labels[0] != NULL; labels += 2) {
		buf_printf(b, "%s%s=\"", before, labels[0]);
		add_value(b, labels[1]);
		buf_puts(b, "\"");
		before = ",";
	}
	buf_printf(b, "%s %lld\n", *before == ',' ? "}" : "", (long long)value);
}
