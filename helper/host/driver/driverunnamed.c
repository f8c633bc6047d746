/* See drivernames.h: only gpuhelperctl warns of such a library. */
#include <stdio.h>
#include <string.h>

#include "../../base/path.h"
#include "../../cdi/loaderdirs.h"
#include "../../cdi/nvhook.h"
#include "../../cdi/nvlibs.h"
#include "driverfound.h"
#include "drivernames.h"

static bool
is_library(const char *file)
{
	return text_starts(file, "lib") && strstr(file, ".so") != NULL;
}

const char *
driver_unnamed(const struct edits *e)
{
	char dir[NVHOOK_PATH_MAX], soname[64];
	const char *target, *file;
	size_t i;

	if (driver_hook_runs(e, NVHOOK_CACHE))
		return NULL;
	for (i = 0; i < e->mounts; i++) {
		target = e->mount[i].target;
		file = path_last(target);
		if (!e->mount[i].driver || !is_library(file) || nvlib_soname(file, soname) || file - target < 2 ||
		    (size_t)(file - target) > sizeof(dir))
			continue;
		snprintf(dir, sizeof(dir), "%.*s", (int)(file - target - 1), target);
		if (!loader_looks_in(dir))
			return target;
	}
	return NULL;
}
