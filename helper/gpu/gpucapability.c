/* See gpu.h: capabilities by name. The helper does not link this file. */
#include <string.h>

#include "gpu.h"
#include "gpufind.h"

bool
gpu_capability_parse(const char *name, unsigned *bit)
{
	static const char *const names[] = {
		"compute", "utility", "graphics", "video", "display", "ngx", "compat32",
	};
	const unsigned n = sizeof(names) / sizeof(*names);
	unsigned i;

	if (strcmp(name, "all") == 0) {
		*bit = (1U << n) - 1;
		return true;
	}
	for (i = 0; i < n; i++)
		if (strcmp(name, names[i]) == 0) {
			*bit = 1U << i;
			return true;
		}
	return false;
}
