/* See vendorvars.h. */
#include "vendorvars.h"

#include <string.h>

#include "../base/text.h"

static const char *const variables[] = { "NVIDIA_VISIBLE_DEVICES", "NVIDIA_DRIVER_CAPABILITIES", "AMD_VISIBLE_DEVICES",
	NULL };

bool
vendor_env_is_among(const char *entry, const char *const *names)
{
	size_t n = strcspn(entry, "="), i;

	for (i = 0; names[i] != NULL; i++)
		if (strlen(names[i]) == n && strncmp(entry, names[i], n) == 0)
			return true;
	return false;
}

bool
vendor_env_owns(const char *entry)
{
	return vendor_env_is_among(entry, variables);
}
