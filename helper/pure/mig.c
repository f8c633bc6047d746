/* See mig.h. */
#include "mig.h"

#include <string.h>

#include "text.h"

#define NUMBER_MAX 99

bool
mig_dir_parse(const char *name, const char *prefix, uint32_t *number)
{
	size_t n = strlen(prefix);

	return strncmp(name, prefix, n) == 0 && text_u32(name + n, 0, NUMBER_MAX, number);
}

int
mig_access_parse(const char *text, uint32_t *minor, struct why *why)
{
	static const char key[] = "DeviceFileMinor:";
	const char *line = text, *value;
	char digits[16];
	size_t n;

	while (line != NULL && strncmp(line, key, sizeof(key) - 1) != 0)
		if ((line = strchr(line, '\n')) != NULL)
			line++;
	if (line != NULL) {
		value = line + sizeof(key) - 1;
		value += strspn(value, " \t");
		n = strcspn(value, "\n");
		if (n < sizeof(digits)) {
			memcpy(digits, value, n);
			digits[n] = '\0';
			if (text_u32(digits, 0, (1U << 20) - 1, minor))
				return 0;
		}
	}
	return refuse(why, WHY_IO, "has no DeviceFileMinor");
}

static unsigned
number(const char **p)
{
	unsigned n = 0;

	for (; **p >= '0' && **p <= '9'; ++*p)
		n = n * 10 + (unsigned)(**p - '0');
	return n;
}

unsigned
mig_part_order(const char *part)
{
	unsigned order;

	if (*part == '\0')
		return 0;
	order = 1 + number(&part) * (NUMBER_MAX + 2);
	if (*part++ == ':')
		order += 1 + number(&part);
	return order;
}

bool
mig_name_split(const char *name, const char *part, char *base, size_t size)
{
	size_t n = strlen(name), tail = strlen(part) + 1;

	if (n <= tail || n - tail >= size || name[n - tail] != ':' || strcmp(name + n - tail + 1, part) != 0)
		return false;
	memcpy(base, name, n - tail);
	base[n - tail] = '\0';
	return true;
}

bool
mig_name_shorten(char *name)
{
	char *colon = strrchr(name, ':');
	uint32_t n;

	if (colon == NULL || colon == name || !text_u32(colon + 1, 0, NUMBER_MAX, &n))
		return false;
	*colon = '\0';
	return true;
}
