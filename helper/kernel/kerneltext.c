/* See kerneltext.h. */
#include "kerneltext.h"

#include <string.h>

bool
kernel_next_line(const char **text, struct kernel_line *l)
{
	const char *end = strchr(*text, '\n');

	if (end == NULL)
		return false;
	l->s = *text;
	l->len = (size_t)(end - *text);
	*text = end + 1;
	return true;
}

bool
kernel_line_is(const struct kernel_line *l, const char *s)
{
	return l->len == strlen(s) && memcmp(l->s, s, l->len) == 0;
}

bool
kernel_line_copy(const struct kernel_line *l, char *out, size_t size)
{
	const char *s = l->s;
	size_t len = l->len;

	while (len > 0 && (*s == ' ' || *s == '\t'))
		s++, len--;
	while (len > 0 && (s[len - 1] == ' ' || s[len - 1] == '\t'))
		len--;
	if (len >= size)
		return false;
	memcpy(out, s, len);
	out[len] = '\0';
	return true;
}

int
kernel_field(const char *text, const char *key, char sep, char *out, size_t size)
{
	size_t klen = strlen(key);
	struct kernel_line l, value;
	int found = 0;

	while (kernel_next_line(&text, &l)) {
		if (l.len <= klen || memcmp(l.s, key, klen) != 0 || l.s[klen] != sep)
			continue;
		value = (struct kernel_line){ l.s + klen + 1, l.len - klen - 1 };
		if (found || !kernel_line_copy(&value, out, size))
			return -1;
		found = 1;
	}
	return found;
}

int
hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

bool
hex_digits(const char **s, unsigned min, unsigned max, uint32_t *out)
{
	uint32_t v = 0;
	unsigned n;

	for (n = 0; hex_digit((*s)[n]) >= 0; n++) {
		if (n == max)
			return false;
		v = v << 4 | (uint32_t)hex_digit((*s)[n]);
	}
	if (n < min)
		return false;
	*s += n;
	*out = v;
	return true;
}
