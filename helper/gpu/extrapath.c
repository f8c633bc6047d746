/* See extrapath.h: nodes by their paths. The helper does not link this file. */
#include "extrapath.h"

#include <string.h>

#define COUNT(t) (sizeof(t) / sizeof((t)[0]))

/* Known nodes by path. Major 0: the kernel chooses it. ANY: unknown here. */
#define ANY (-1)
static const struct known_path {
	const char *name;
	bool numbered;		/* a number follows, which is the minor if the major is fixed */
	unsigned word;
	int major, minor;
} known[] = {
	{ "/dev/nvidia", true, 0, NVIDIA_MAJOR, ANY }, { "/dev/nvidiactl", false, 0, NVIDIA_MAJOR, NVIDIA_CONTROL_MINOR },
	{ "/dev/nvidia-modeset", false, 0, NVIDIA_MAJOR, NVIDIA_MODESET_MINOR }, { "/dev/nvidia-uvm", false, 0, 0, ANY },
	{ "/dev/nvidia-uvm-tools", false, 0, 0, ANY }, { "/dev/nvidia-caps/nvidia-cap", true, 0, 0, ANY },
	{ "/dev/kfd", false, 0, 0, ANY }, { "/dev/dri/card", true, 0, DRM_MAJOR, ANY },
	{ "/dev/dri/renderD", true, 0, DRM_MAJOR, ANY }, { "/dev/accel/accel", true, 0, ACCEL_MAJOR, ANY },
	{ "/dev/gdrdrv", false, EXTRA_GDRDRV, 0, ANY }, { "/dev/nvidia-fs", true, EXTRA_NVIDIA_FS, 0, ANY },
	{ IMEX_CHANNEL, true, EXTRA_IMEX, 0, ANY }, { "/dev/nvidia-nvswitch", true, EXTRA_NVSWITCH, 0, ANY },
	{ "/dev/nvidia-nvswitchctl", false, EXTRA_NVSWITCH, 0, ANY },
	{ "/dev/infiniband/uverbs", true, EXTRA_INFINIBAND, ANY, ANY },
	{ "/dev/infiniband/rdma_cm", false, EXTRA_INFINIBAND, ANY, ANY },
};

/* The known node with this path, or NULL. */
static const struct known_path *
find_known(const char *path, uint32_t *number)
{
	size_t i, n;

	for (i = 0; i < COUNT(known); i++) {
		n = strlen(known[i].name);
		if (strncmp(path, known[i].name, n) == 0 &&
		    (known[i].numbered ? text_u32(path + n, 0, UINT32_MAX, number) : path[n] == '\0'))
			return &known[i];
	}
	return NULL;
}

bool
extra_path_known(const char *path, unsigned *word)
{
	uint32_t number;
	const struct known_path *k = find_known(path, &number);

	if (k != NULL)
		*word = k->word;
	return k != NULL;
}

enum extra_number
extra_path_number(const char *path, int64_t major, int64_t minor)
{
	uint32_t number = 0;
	const struct known_path *k = find_known(path, &number);

	if (k == NULL || k->major == ANY)
		return EXTRA_NUMBER_FITS;
	/* fs/char_dev.c, find_dynamic_major() */
	if (k->major == 0)
		return (major >= 234 && major <= 254) || (major >= 384 && major <= 511) ? EXTRA_NUMBER_FITS : EXTRA_NUMBER_UNLIKELY;
	return major == k->major && minor == (k->numbered ? (int64_t)number : k->minor) ? EXTRA_NUMBER_FITS :
	    EXTRA_NUMBER_OTHER;
}
