/* See report.h: text and numbers for the page. */
#include "report.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../base/cleanup.h"

/* U+FFFE and U+FFFF are valid UTF-8, but not allowed in XML. */
static bool
is_noncharacter(const char *s)
{
	return strncmp(s, "\xef\xbf\xbe", 3) == 0 || strncmp(s, "\xef\xbf\xbf", 3) == 0;
}

static void
add_escaped(struct buf *b, const char *text)
{
	static const char special[] = "&<>\"'";
	static const char *const escapes[] = { "&amp;", "&lt;", "&gt;", "&quot;", "&#39;" };
	const size_t size = strlen(text) + 1;
	autofree char *safe = malloc(size);
	const char *s, *found;

	if (safe == NULL) {
		b->failed = true;
		return;
	}
	text_printable(safe, size, text);
	for (s = safe; *s != '\0'; s++)
		if ((found = strchr(special, *s)) != NULL)
			buf_puts(b, escapes[found - special]);
		else if (is_noncharacter(s)) {
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

const char *
number_count(int64_t n, char out[NUMBER_SIZE])
{
	char *at = out + NUMBER_SIZE - 1;
	int digits;

	*at = '\0';
	for (digits = 0; n > 0 || digits == 0; digits++) {
		if (digits > 0 && digits % 3 == 0)
			*--at = ',';
		*--at = (char)('0' + n % 10);
		n /= 10;
	}
	return at;
}

const char *
number_hours(int64_t seconds, char out[NUMBER_SIZE])
{
	const int64_t tenths = (seconds + 180) / 360;

	if (seconds > 0 && tenths == 0)
		return "<0.1";
	snprintf(out, NUMBER_SIZE, "%s.%d", as_count(tenths / 10), (int)(tenths % 10));
	return out;
}

double
percent(int64_t part, int64_t whole)
{
	return whole > 0 ? 100.0 * (double)part / (double)whole : 0;
}

const char *
number_share(int64_t part, int64_t whole, char out[NUMBER_SIZE])
{
	const double share = percent(part, whole);

	if (part > 0 && share < 0.05)
		return "<0.1 %";
	snprintf(out, NUMBER_SIZE, "%.1f %%", share);
	return out;
}

const char *
number_duration(int64_t seconds, char out[NUMBER_SIZE])
{
	const long long s = seconds;

	if (s < 60)
		snprintf(out, NUMBER_SIZE, "%lld s", s);
	else if (s < 3600)
		snprintf(out, NUMBER_SIZE, "%lld min %lld s", s / 60, s % 60);
	else if (s < 2 * DAY_S)
		snprintf(out, NUMBER_SIZE, "%lld h %lld min", s / 3600, s % 3600 / 60);
	else
		snprintf(out, NUMBER_SIZE, "%lld d %lld h", s / DAY_S, s % DAY_S / 3600);
	return out;
}

const char *
number_time(int64_t seconds, char out[NUMBER_SIZE])
{
	char text[32];

	text_time(seconds, text);
	snprintf(out, NUMBER_SIZE, "%.10s %.5s", text, text + 11);
	return out;
}
