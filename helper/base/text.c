/* See text.h. Assumes any bytes, and must never read past their end. */
#include "text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The length of the well-formed UTF-8 sequence at s, 0 if there is none. *cp gets the code point. */
static size_t
utf8_at(const unsigned char *s, size_t len, uint32_t *cp)
{
	static const uint32_t least[5] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t n, i;

	if (len == 0)
		return 0;
	if (s[0] < 0x80) {
		*cp = s[0];
		return 1;
	}
	if ((s[0] & 0xe0) == 0xc0) {
		n = 2;
		*cp = s[0] & 0x1fU;
	} else if ((s[0] & 0xf0) == 0xe0) {
		n = 3;
		*cp = s[0] & 0x0fU;
	} else if ((s[0] & 0xf8) == 0xf0) {
		n = 4;
		*cp = s[0] & 0x07U;
	} else
		return 0;
	if (len < n)
		return 0;
	for (i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		*cp = *cp << 6 | (s[i] & 0x3fU);
	}
	if (*cp < least[n] || *cp > 0x10ffff || (*cp >= 0xd800 && *cp <= 0xdfff))
		return 0;
	return n;
}

bool
text_is_utf8(const char *s, size_t len)
{
	size_t i, n;
	uint64_t eight;
	uint32_t cp;

	for (i = 0; i < len; i += n) {
		/* most texts are ASCII: eight bytes at once */
		if (len - i >= (n = sizeof(eight))) {
			memcpy(&eight, s + i, n);
			if ((eight & 0x8080808080808080U) == 0)
				continue;
		}
		if ((n = (unsigned char)s[i] < 0x80 ? 1 : utf8_at((const unsigned char *)s + i, len - i, &cp)) == 0)
			return false;
	}
	return true;
}

/* False for code points that move the cursor, hide text or change its direction. */
static bool
cp_is_harmless(uint32_t cp)
{
	if (cp < 0x20 || (cp >= 0x7f && cp <= 0x9f))
		return false;
	return !(cp == 0x061c || (cp >= 0x200b && cp <= 0x200f) || (cp >= 0x2028 && cp <= 0x202e) ||
	    (cp >= 0x2060 && cp <= 0x206f) || cp == 0xfeff);
}

void
text_printable(char *dst, size_t size, const char *src)
{
	const unsigned char *s = (const unsigned char *)src;
	size_t left = strlen(src), o = 0, n;
	uint32_t cp;

	while (left > 0) {
		if ((n = utf8_at(s, left, &cp)) != 0 && cp_is_harmless(cp)) {
			if (o + n >= size)
				break;
			memcpy(dst + o, s, n);
			o += n;
		} else {
			if (o + 1 >= size)
				break;
			dst[o++] = '?';
			n = n ? n : 1;
		}
		s += n;
		left -= n;
	}
	dst[o] = '\0';
}

bool
text_u64(const char *s, uint64_t max, uint64_t *out)
{
	uint64_t v = 0;

	if (*s == '\0' || (s[0] == '0' && s[1] != '\0'))
		return false;
	for (; *s; s++) {
		if (*s < '0' || *s > '9' || __builtin_mul_overflow(v, 10U, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(*s - '0'), &v))
			return false;
	}
	if (v > max)
		return false;
	*out = v;
	return true;
}

bool
text_u32(const char *s, uint32_t min, uint32_t max, uint32_t *out)
{
	uint64_t v;

	if (!text_u64(s, max, &v) || v < min)
		return false;
	*out = (uint32_t)v;
	return true;
}

void
text_time(int64_t seconds, char out[32])
{
	int64_t days = seconds / 86400, rest = seconds % 86400, era, doe, yoe, doy, mp, year, month;

	if (seconds < 0 || seconds > 253402300799) {	/* before 1970 or after 9999: no valid clock */
		snprintf(out, 32, "-");
		return;
	}
	/* days to a Gregorian date; years begin in March, so that the leap day is the last */
	days += 719468;
	era = days / 146097;
	doe = days - era * 146097;
	yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
	doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
	mp = (5 * doy + 2) / 153;
	month = mp < 10 ? mp + 3 : mp - 9;
	year = yoe + era * 400 + (month <= 2);
	snprintf(out, 32, "%04u-%02u-%02uT%02u:%02u:%02uZ", (unsigned)(year % 10000), (unsigned)(month % 100),
	    (unsigned)((doy - (153 * mp + 2) / 5 + 1) % 100), (unsigned)(rest / 3600 % 100),
	    (unsigned)(rest / 60 % 60), (unsigned)(rest % 60));
}

bool
text_starts(const char *s, const char *prefix)
{
	return strncmp(s, prefix, strlen(prefix)) == 0;
}

bool
text_among(const char *s, const char *const *list)
{
	for (; *list != NULL; list++)
		if (strcmp(s, *list) == 0)
			return true;
	return false;
}

bool
strlist_add(struct strlist *l, const char *s, size_t len)
{
	char **v, *copy;

	if (len == SIZE_MAX)
		len = strlen(s);
	if ((copy = strndup(s, len)) == NULL)
		return false;
	if ((v = reallocarray(l->v, l->n + 1, sizeof(*v))) == NULL) {
		free(copy);
		return false;
	}
	l->v = v;
	l->v[l->n++] = copy;
	return true;
}

bool
strlist_append(struct strlist *l, const struct strlist *from)
{
	size_t i = 0;

	while (i < from->n && strlist_add(l, from->v[i], SIZE_MAX))
		i++;
	return i == from->n;
}

bool
strlist_is_utf8(const struct strlist *l)
{
	size_t i;

	for (i = 0; i < l->n; i++)
		if (!text_is_utf8(l->v[i], strlen(l->v[i])))
			return false;
	return true;
}

bool
strlist_has(const struct strlist *l, const char *s)
{
	size_t i;

	for (i = 0; i < l->n; i++)
		if (strcmp(l->v[i], s) == 0)
			return true;
	return false;
}

void
strlist_free(struct strlist *l)
{
	size_t i;

	for (i = 0; i < l->n; i++)
		free(l->v[i]);
	free(l->v);
	*l = (struct strlist){ 0 };
}

void
buf_add(struct buf *b, const char *s, size_t len)
{
	size_t need, cap;
	char *p;

	if (b->failed || __builtin_add_overflow(b->len, len, &need) || need > SIZE_MAX / 4) {
		b->failed = true;
		return;
	}
	if (need + 1 > b->cap) {
		cap = need + need / 2 + 64;
		if ((p = realloc(b->p, cap)) == NULL) {
			b->failed = true;
			return;
		}
		b->p = p;
		b->cap = cap;
	}
	if (len > 0)
		memcpy(b->p + b->len, s, len);
	b->len = need;
	b->p[b->len] = '\0';
}

void
buf_puts(struct buf *b, const char *s)
{
	buf_add(b, s, strlen(s));
}

void
buf_printf(struct buf *b, const char *fmt, ...)
{
	char *s = NULL;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&s, fmt, ap);
	va_end(ap);
	if (n < 0) {
		b->failed = true;
		return;
	}
	buf_add(b, s, (size_t)n);
	free(s);
}

/* True for characters that JSON strings must not contain, or that are better escaped. */
static bool
needs_number(uint32_t cp, bool ascii)
{
	return cp < 0x20 || cp == 0x7f || cp == 0x2028 || cp == 0x2029 || (ascii && cp > 0x7f);
}

static void
put_numbers(struct buf *b, uint32_t cp)
{
	if (cp > 0xffff)
		buf_printf(b, "\\u%04x\\u%04x", 0xd800 + (unsigned)((cp - 0x10000) >> 10), 0xdc00 + (unsigned)(cp & 0x3ff));
	else
		buf_printf(b, "\\u%04x", (unsigned)cp);
}

static void
put_json_string(struct buf *b, const char *str, bool ascii)
{
	const unsigned char *s = (const unsigned char *)str;
	size_t left = strlen(str), n;
	uint32_t cp;

	buf_puts(b, "\"");
	for (; left > 0; s += n, left -= n) {
		if ((n = utf8_at(s, left, &cp)) == 0) {
			n = 1;
			buf_puts(b, "\\ufffd");
		} else if (cp == '"' || cp == '\\')
			buf_printf(b, "\\%c", (char)cp);
		else if (needs_number(cp, ascii))
			put_numbers(b, cp);
		else
			buf_add(b, (const char *)s, n);
	}
	buf_puts(b, "\"");
}

void
buf_json(struct buf *b, const char *str)
{
	put_json_string(b, str, false);
}

void
buf_json_ascii(struct buf *b, const char *str)
{
	put_json_string(b, str, true);
}

char *
buf_take(struct buf *b)
{
	char *p = NULL;

	if (!b->failed && b->p == NULL)
		buf_add(b, "", 0);
	if (!b->failed) {
		p = b->p;
		b->p = NULL;
	}
	buf_free(b);
	return p;
}

void
buf_free(struct buf *b)
{
	free(b->p);
	*b = (struct buf){ 0 };
}
