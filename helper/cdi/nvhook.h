/*
 * What hooks of NVIDIA's tool kit would do, by their arguments (nvidia-container-toolkit 1.14 to 1.20:
 * cmd/nvidia-cdi-hook, before that cmd/nvidia-ctk/hook). create-symlinks names the links to libraries,
 * update-ldcache their directories. Reads text only: no hook runs.
 */
#ifndef GPUHELPER_CDI_NVHOOK_H
#define GPUHELPER_CDI_NVHOOK_H

#include <stdbool.h>

#include "cdi.h"

#define NVHOOK_PATH_MAX 1024

enum nvhook {
	NVHOOK_NONE,		/* not of the tool kit */
	NVHOOK_LINKS,		/* create-symlinks */
	NVHOOK_CACHE,		/* update-ldcache */
	NVHOOK_NEEDLESS,	/* not needed: compatibility libraries, settings for graphics, chmod(1), limits of GPU memory */
	NVHOOK_UNKNOWN,		/* newer than this list */
};
enum nvhook nvhook_of(const struct cdi_hook *h);

/*
 * The next symbolic link that create-symlinks would make; set *at to 0 first. «link» gets its path, «target»
 * the path that it leads to, both absolute and without «.» and «..». Skips links of other forms. False if
 * there are no more.
 */
bool nvhook_link(const struct cdi_hook *h, size_t *at, char target[NVHOOK_PATH_MAX], char link[NVHOOK_PATH_MAX]);

#endif
