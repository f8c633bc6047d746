/* See devlist.h. Assumes the kernel's text. */
#include "devlist.h"

#include <string.h>

#include "../base/text.h"

/* One line, parsed. */
struct line {
	char type;
	bool any_major, any_minor;
	uint32_t major, minor;
	bool opens;		/* allows reading or writing, not only mknod(2) */
};

/* Parses «*» or a number up to «end». */
static bool
parse_number(const char **at, char end, bool *any, uint32_t *n)
{
	const char *s = *at, *stop = strchr(s, end);
	char number[16];

	if (stop == NULL || stop == s || (size_t)(stop - s) >= sizeof(number))
		return false;
	*at = stop + 1;
	*any = *s == '*' && stop == s + 1;
	memcpy(number, s, (size_t)(stop - s));
	number[stop - s] = '\0';
	return *any || text_u32(number, 0, UINT32_MAX, n);
}

/* Parses «c 195:0 rw», «c *:* m», «a *:* rwm». False for anything else. */
static bool
parse_rule(const char *s, struct line *out)
{
	size_t n;

	*out = (struct line){ .type = *s };
	if (strchr("abc", *s) == NULL || s[1] != ' ')
		return false;
	/* nobody asks about block devices */
	if (*s == 'b')
		return true;
	s += 2;
	if (!parse_number(&s, ':', &out->any_major, &out->major) || !parse_number(&s, ' ', &out->any_minor, &out->minor))
		return false;
	n = strcspn(s, "\n");
	out->opens = strcspn(s, "rw") < n;
	return n > 0 && strspn(s, "rwm") == n;
}

static bool
line_allows(const char *text, uint32_t major, uint32_t minor)
{
	struct line l;

	if (!parse_rule(text, &l))
		return true;
	return l.type != 'b' && l.opens && (l.any_major || l.major == major) && (l.any_minor || l.minor == minor);
}

static bool
line_is_wide(const char *text, const struct devmajors *majors)
{
	struct line l;

	if (!parse_rule(text, &l) || l.type == 'a')
		return true;
	return l.type != 'b' && l.opens && (l.any_major || (l.any_minor && devmajors_is_gpu(majors, l.major)));
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

bool
devlist_is_wide(const char *list, const struct devmajors *majors)
{
	const char *line;

	for (line = list; *line != '\0'; line += strcspn(line, "\n"), line += *line == '\n')
		if (*line != '\n' && line_is_wide(line, majors))
			return true;
	return false;
}
