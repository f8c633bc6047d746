/* See report_parts.h: text and numbers for the page. */
#include "report_parts.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../base/cleanup.h"

static void
add_escaped(struct buf *b, const char *text)
{
	const size_t size = strlen(text) + 1;
	autofree char *safe = malloc(size);
	const char *s;

	if (safe == NULL) {
		b->failed = true;
		return;
	}
	text_printable(safe, size, text);
	for (s = safe; *s != '\0'; s++)
		if (strchr("&<>\"'", *s) != NULL)
			buf_printf(b, "&#%d;", *s);
		else if (strncmp(s, "\xef\xbf\xbe", 3) == 0 || strncmp(s, "\xef\xbf\xbf", 3) == 0) {
			/* U+FFFE and U+FFFF are valid UTF-8, but not allowed in XML */
			buf_puts(b, "?");
			s += 2;
		} else
			buf_add(b, s, 1);
}

void
html(struct buf *b, const char *format, ...)
{
	const char *s;
	va_list ap;

	va_start(ap, format);
	for (s = format; *s != '\0'; s++)
		if (*s != '%')
			buf_add(b, s, 1);
		else if (*++s == 's')
			add_escaped(b, va_arg(ap, const char *));
		else if (*s == 'd')
			buf_printf(b, "%d", va_arg(ap, int));
		else if (*s == 'f')
			buf_printf(b, "%.2f", va_arg(ap, double));
		else
			buf_puts(b, "%");
	va_end(ap);
}

double
percent(int64_t part, int64_t whole)
{
	return whole > 0 ? 100.0 * (double)part / (double)whole : 0;
}

const char *
number_text(enum form form, int64_t n, int64_t whole, char out[NUMBER_SIZE])
{
	const int64_t tenths = (n + 180) / 360;		/* of an hour */
	const long long s = n;
	char time[32];

	if (form == FORM_HOURS && n > 0 && tenths == 0)
		return "<0.1";
	if (form == FORM_SHARE && n > 0 && percent(n, whole) < 0.05)
		return "<0.1 %";
	if (form == FORM_HOURS)
		snprintf(out, NUMBER_SIZE, "%s.%d", as_count(tenths / 10), (int)(tenths % 10));
	else if (form == FORM_SHARE)
		snprintf(out, NUMBER_SIZE, "%.1f %%", percent(n, whole));
	else if (form == FORM_TIME) {
		text_time(n, time);
		snprintf(out, NUMBER_SIZE, "%.10s %.5s", time, time + 11);
	} else if (form == FORM_COUNT && s < 1000)
		snprintf(out, NUMBER_SIZE, "%lld", s);
	else if (form == FORM_COUNT)
		snprintf(out, NUMBER_SIZE, "%s,%03lld", as_count(s / 1000), s % 1000);
	else if (s < 60)
		snprintf(out, NUMBER_SIZE, "%lld s", s);
	else if (s < 3600)
		snprintf(out, NUMBER_SIZE, "%lld min %lld s", s / 60, s % 60);
	else if (s < 2 * DAY_S)
		snprintf(out, NUMBER_SIZE, "%lld h %lld min", s / 3600, s % 3600 / 60);
	else
		snprintf(out, NUMBER_SIZE, "%lld d %lld h", s / DAY_S, s % DAY_S / 3600);
	return out;
}
