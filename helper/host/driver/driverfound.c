/* See driverfound.h. Opens nothing. Only root can change the sources of mounts: driverfiles.c has checked them. */
#include "driverfound.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "../../base/path.h"
#include "../../cdi/loaderdirs.h"
#include "../../cdi/nvlibs.h"
#include "../../gpu/gpu.h"

/* A view of the hook for nvhook.h, which borrows its strings. */
static struct cdi_hook
hook_view(const struct edit_hook *h)
{
	return (struct cdi_hook){ .path = h->path, .args = h->args };
}

bool
driver_hook_runs(const struct edits *e, enum nvhook what)
{
	struct cdi_hook h;
	size_t i;

	for (i = 0; i < e->hooks; i++) {
		h = hook_view(&e->hook[i]);
		if (nvhook_of(&h) == what)
			return true;
	}
	return false;
}

bool
driver_hook_links(const struct edits *e, const char *path)
{
	char target[NVHOOK_PATH_MAX], link[NVHOOK_PATH_MAX];
	struct cdi_hook h;
	size_t i, at;

	for (i = 0; i < e->hooks; i++) {
		h = hook_view(&e->hook[i]);
		for (at = 0; nvhook_of(&h) == NVHOOK_LINKS && nvhook_link(&h, &at, target, link);)
			if (strcmp(driver_path_merged(link), driver_path_merged(path)) == 0)
				return true;
	}
	return false;
}

const char *
driver_path_merged(const char *path)
{
	return text_starts(path, "/usr/lib") ? path + strlen("/usr") : path;
}

/* True if the mounted source is a directory with this library, as drivers for containers are laid out. */
static bool
has_within(const char *source, const char *soname)
{
	static const char *const beneath[] = { "", "lib/", "lib64/" };
	char path[1100];
	struct stat st;
	size_t i;

	for (i = 0; lstat(source, &st) == 0 && S_ISDIR(st.st_mode) && i < sizeof(beneath) / sizeof(beneath[0]); i++)
		if ((size_t)snprintf(path, sizeof(path), "%s/%s%s", source, beneath[i], soname) < sizeof(path) &&
		    lstat(path, &st) == 0)
			return true;
	return false;
}

/* True if a mount or a link is at the place where a loader looks for this SONAME. */
static bool
is_found(const struct edits *e, const char *soname)
{
	const char *const *dir;
	char wanted[256];
	size_t i;

	for (dir = loader_dirs_here(); *dir != NULL; dir++) {
		snprintf(wanted, sizeof(wanted), "%s/%s%s", *dir, nvlib_beneath(soname), soname);
		for (i = 0; i < e->mounts; i++)
			if (e->mount[i].driver && strcmp(driver_path_merged(e->mount[i].target), driver_path_merged(wanted)) == 0)
				return true;
		if (driver_hook_links(e, wanted))
			return true;
	}
	return false;
}

bool
driver_finds(const struct edits *e, const char *soname)
{
	bool mounted = false;
	char name[64];
	size_t i;

	for (i = 0; i < e->mounts && !mounted; i++)
		mounted = e->mount[i].driver && nvlib_soname(path_last(e->mount[i].target), name) && strcmp(name, soname) == 0;
	/* the hook that updates the loader's cache finds a library by its SONAME, whatever its file is called */
	if (mounted && (is_found(e, soname) || driver_hook_runs(e, NVHOOK_CACHE)))
		return true;
	for (i = 0; i < e->mounts; i++)
		if (e->mount[i].driver && has_within(e->mount[i].source, soname))
			return true;
	return false;
}

void
driver_missing(const struct edits *e, unsigned capabilities, char out[DRIVER_MISSING_MAX])
{
	const bool cuda = (capabilities & GPU_CAP_COMPUTE) != 0 && !driver_finds(e, "libcuda.so.1");
	const bool ml = (capabilities & GPU_CAP_UTILITY) != 0 && !driver_finds(e, "libnvidia-ml.so.1");

	snprintf(out, DRIVER_MISSING_MAX, "%s%s%s", cuda ? "libcuda.so.1" : "", cuda && ml ? " or " : "",
	    ml ? "libnvidia-ml.so.1" : "");
}
