/* See report.h: formats text, numbers and times for the page. */
#include "report.h"

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
add_escaped(struct buf *b, const char *s, const char *end)
{
	static const char special[] = "&<>\"'";
	static const char *const escapes[] = { "&amp;", "&lt;", "&gt;", "&quot;", "&#39;" };
	const char *found;

	for (; s < end; s++)
		if ((found = strchr(special, *s)) != NULL && *s != '\0')
			buf_puts(b, escapes[found - special]);
		else if (is_noncharacter(s)) {
			buf_puts(b, "?");
			s += 2;
		} else
			buf_add(b, s, 1);
}

/* Copies text as valid UTF-8 without control and direction characters; NULL, with b->failed set: out of memory. */
static char *
make_safe(struct buf *b, const char *text)
{
	const size_t size = strlen(text) + 1;
	char *safe = malloc(size);

	if (safe == NULL)
		b->failed = true;
	else
		text_printable(safe, size, text);
	return safe;
}

void
html_text(struct buf *b, const char *text)
{
	autofree char *safe = make_safe(b, text);

	if (safe != NULL)
		add_escaped(b, safe, safe + strlen(safe));
}

/* Skips up to this many characters. */
static const char *
skip_characters(const char *s, size_t characters)
{
	for (; *s != '\0' && characters > 0; characters--)
		do
			s++;
		while ((*s & 0xc0) == 0x80);
	return s;
}

void
html_text_short(struct buf *b, const char *text, size_t max)
{
	autofree char *safe = make_safe(b, text);
	const char *s;
	size_t n = 0;

	if (safe == NULL)
		return;
	for (s = safe; *s != '\0'; s = skip_characters(s, 1))
		n++;
	if (n <= max) {
		add_escaped(b, safe, safe + strlen(safe));
		return;
	}
	add_escaped(b, safe, skip_characters(safe, max - max / 3 - 1));
	buf_puts(b, "…");
	s = skip_characters(safe, n - max / 3);
	add_escaped(b, s, s + strlen(s));
}

void
html_count(struct buf *b, int64_t n)
{
	char digits[24];
	size_t len, i;

	len = (size_t)snprintf(digits, sizeof(digits), "%lld", (long long)n);
	for (i = 0; i < len; i++) {
		buf_add(b, &digits[i], 1);
		if (digits[i] != '-' && (len - i) % 3 == 1 && i + 1 < len)
			buf_puts(b, ",");
	}
}

void
html_hours(struct buf *b, int64_t seconds)
{
	const int64_t tenths = (seconds + 180) / 360;

	if (seconds > 0 && tenths == 0) {
		buf_puts(b, "&lt;0.1");
		return;
	}
	html_count(b, tenths / 10);
	buf_printf(b, ".%d", (int)(tenths % 10));
}

void
html_share(struct buf *b, int64_t part, int64_t whole)
{
	const double share = whole > 0 ? 100.0 * (double)part / (double)whole : 0;

	if (part > 0 && share < 0.05)
		buf_puts(b, "&lt;0.1 %");
	else
		buf_printf(b, "%.1f %%", share);
}

void
html_duration(struct buf *b, int64_t seconds)
{
	const long long s = seconds;

	if (s < 60)
		buf_printf(b, "%lld s", s);
	else if (s < 3600)
		buf_printf(b, "%lld min %lld s", s / 60, s % 60);
	else if (s < 2 * DAY_S)
		buf_printf(b, "%lld h %lld min", s / 3600, s % 3600 / 60);
	else
		buf_printf(b, "%lld d %lld h", s / DAY_S, s % DAY_S / 3600);
}

void
html_day(struct buf *b, int64_t seconds)
{
	char text[32];

	text_time(seconds, text);
	buf_add(b, text, strlen("2026-11-20"));
}
