/*
 * What the hooks of NVIDIA's tool kit would do, read from their arguments
 * (nvidia-container-toolkit 1.14 to 1.20: cmd/nvidia-cdi-hook, before
 * cmd/nvidia-ctk/hook).  No hook is run for that: create-symlinks says which
 * names a library has besides, update-ldcache where libraries are.  Text only.
 */
#ifndef GPUHELPER_PURE_NVHOOK_H
#define GPUHELPER_PURE_NVHOOK_H

#include <stdbool.h>

#include "cdi.h"

#define NVHOOK_PATH_MAX 1024

enum nvhook {
	NVHOOK_NONE,		/* no hook of the tool kit's */
	NVHOOK_LINKS,		/* create-symlinks */
	NVHOOK_CACHE,		/* update-ldcache */
	NVHOOK_NEEDLESS,	/* what a container does without: compatibility libraries, settings for graphics, chmod(1) */
	NVHOOK_UNKNOWN,		/* newer than this list */
};
enum nvhook nvhook_of(const struct cdi_hook *h);

/*
 * The next symbolic link that create-symlinks would make; *at is 0 at first.
 * «link» gets its path, «target» the path that it leads to, both absolute and
 * without «.» and «..».  False: there are no more.  One of another form is passed over.
 */
bool nvhook_link(const struct cdi_hook *h, size_t *at, char target[NVHOOK_PATH_MAX], char link[NVHOOK_PATH_MAX]);

#endif
