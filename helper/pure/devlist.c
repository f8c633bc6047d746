/* See devlist.h. */
#include "devlist.h"

#include <string.h>

#include "text.h"

/* «*» or a number, up to «end». */
static bool
covers(const char *s, char end, uint32_t n, const char **rest, bool *bad)
{
	const char *stop = strchr(s, end);
	char number[16];
	uint32_t is;

	if (stop == NULL || stop == s || (size_t)(stop - s) >= sizeof(number)) {
		*bad = true;
		return false;
	}
	*rest = stop + 1;
	if (*s == '*' && stop == s + 1)
		return true;
	memcpy(number, s, (size_t)(stop - s));
	number[stop - s] = '\0';
	*bad = *bad || !text_u32(number, 0, UINT32_MAX, &is);
	return !*bad && is == n;
}

/* «c 195:0 rw», «c *:* m», «a *:* rwm». */
static bool
line_allows(const char *line, uint32_t major, uint32_t minor)
{
	const char *access = line, *at;
	bool bad = false, is_major, is_minor;
	size_t n;

	if (strchr("abc", *line) == NULL || line[1] != ' ')
		return true;
	if (*line == 'b')
		return false;
	is_major = covers(line + 2, ':', major, &at, &bad);
	is_minor = !bad && covers(at, ' ', minor, &access, &bad);
	n = strcspn(access, "\n");
	bad = bad || n == 0 || strspn(access, "rwm") != n;
	return bad || (is_major && is_minor && strcspn(access, "rw") < n);
}

bool
devlist_allows(const char *list, uint32_t major, uint32_t minor)
{
	const char *line;

	for (line = list; *line != '\0'; line += strcspn(line, "\n"), line += *line == '\n')
		if (*line != '\n' && line_allows(line, major, minor))
			return true;
	return false;
}
