/* See mig.h: what NVIDIA's driver says of MIG devices in /proc, and what policies call them. */
#include <string.h>

#include "../base/text.h"
#include "mig.h"

bool
mig_dir_parse(const char *name, const char *prefix, uint32_t *number)
{
	size_t n = strlen(prefix);

	return strncmp(name, prefix, n) == 0 && text_u32(name + n, 0, MIG_NUMBER_MAX, number);
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

bool
mig_name_shorten(char *name)
{
	char *colon = strrchr(name, ':');
	uint32_t n;

	if (colon == NULL || colon == name || !text_u32(colon + 1, 0, MIG_NUMBER_MAX, &n))
		return false;
	*colon = '\0';
	return true;
}
