/* See mig.h. */
#include "mig.h"

#include <string.h>

#include "../base/text.h"

static unsigned
next_number(const char **p)
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
	order = 1 + next_number(&part) * (MIG_NUMBER_MAX + 2);
	if (*part++ == ':')
		order += 1 + next_number(&part);
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
