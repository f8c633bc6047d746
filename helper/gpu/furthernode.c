/* See furthernode.h. Knows drivers by their names in /proc/devices and in sysfs, which the kernel writes. */
#include "furthernode.h"

#include <string.h>

#define MODESET_MINOR 254	/* NVIDIA's nv-chardev-numbers.h; 0 to 247 are GPUs */
#define CONTROL_MINOR 255

#define COUNT(t) (sizeof(t) / sizeof((t)[0]))

static const struct { const char *name; unsigned bit; const char *kind; } words[] = {
	{ "gdrdrv", FURTHER_GDRDRV, "nvidia.com/gdrcopy" }, { "nvidia-fs", FURTHER_NVIDIA_FS, "nvidia.com/gds" },
	{ "imex", FURTHER_IMEX, "nvidia.com/imex-channel" }, { "infiniband", FURTHER_INFINIBAND, "nvidia.com/mofed" },
	{ "nvswitch", FURTHER_NVSWITCH, "nvidia.com/nvswitch" },
};

bool
further_word_parse(const char *name, unsigned *bit, uint32_t *channel)
{
	size_t i;

	if (text_starts(name, "imex=") && text_u32(name + strlen("imex="), 0, IMEX_CHANNEL_MAX, channel)) {
		*bit = FURTHER_IMEX;
		return true;
	}
	for (i = 0; i < COUNT(words); i++)
		if (strcmp(words[i].name, name) == 0) {
			*bit = words[i].bit;
			return true;
		}
	return false;
}

const char *
further_word_name(unsigned bit)
{
	size_t i;

	for (i = 0; i < COUNT(words); i++)
		if (words[i].bit == bit)
			return words[i].name;
	return "";
}

const char *
further_word_kind(unsigned bit)
{
	size_t i;

	for (i = 0; i < COUNT(words); i++)
		if (words[i].bit == bit)
			return words[i].kind;
	return "";
}

unsigned
further_kind_word(const char *kind)
{
	size_t i;

	for (i = 0; i < COUNT(words); i++)
		if (strcmp(words[i].kind, kind) == 0)
			return words[i].bit;
	return 0;
}

const char *
further_driver(const struct devmajors *m, uint32_t major)
{
	size_t i;

	for (i = 0; i < m->n; i++)
		if (m->v[i].type == 'c' && m->v[i].major == major)
			return m->v[i].name;
	return "";
}

/*
 * True if only this driver has the major number. Some share one by ranges of minors: three of InfiniBand's
 * share 231.
 */
static bool
is_major_of(const struct devmajors *m, uint32_t major, const char *name)
{
	bool found = false;
	size_t i;

	for (i = 0; i < m->n; i++) {
		if (m->v[i].type != 'c' || m->v[i].major != major)
			continue;
		if (strcmp(m->v[i].name, name) != 0)
			return false;
		found = true;
	}
	return found;
}

static bool
is_driver_major(const struct devmajors *m, uint32_t major, const char *const *names)
{
	size_t i;

	for (i = 0; i < m->n; i++)
		if (m->v[i].type == 'c' && m->v[i].major == major && text_among(m->v[i].name, names))
			return true;
	return false;
}

/*
 * True for majors of nodes that use or make GPUs or parts of them: NVIDIA's own, DRM's, accel's, kfd's and
 * MIG's.
 */
static bool
opens_gpus(const struct devmajors *m, uint32_t major)
{
	static const char *const names[] = { "nvidia", "nvidia-frontend", "nvidiactl", "nvidia-caps", "kfd", "drm", "accel",
		NULL };

	return major == NVIDIA_MAJOR || major == DRM_MAJOR || major == ACCEL_MAJOR || is_driver_major(m, major, names);
}

/* Nodes that NVIDIA's driver has for all of its GPUs, by any name. */
static enum further_kind
judge_nvidia(const struct devmajors *m, const struct further_node *n)
{
	static const char *const driver[] = { "nvidia", "nvidia-frontend", NULL };

	if (is_major_of(m, n->major, "nvidia-uvm"))
		return FURTHER_OF_GPU;
	if (!is_driver_major(m, n->major, driver))
		return FURTHER_UNKNOWN;
	return n->minor == MODESET_MINOR ? FURTHER_DISPLAYS : n->minor == CONTROL_MINOR ? FURTHER_OF_GPU : FURTHER_UNKNOWN;
}

static unsigned
word_for(const struct devmajors *m, const struct further_node *n)
{
	if (is_major_of(m, n->major, "gdrdrv"))
		return FURTHER_GDRDRV;
	if (is_major_of(m, n->major, "nvidia-fs"))
		return FURTHER_NVIDIA_FS;
	if (is_major_of(m, n->major, IMEX_DRIVER))
		return FURTHER_IMEX;
	if (is_major_of(m, n->major, "nvidia-nvswitch"))
		return FURTHER_NVSWITCH;
	/* uverbs shares its major with umad, and rdma_cm is one of many drivers of «misc» */
	if (text_starts(n->place, "infiniband_verbs/uverbs") || strcmp(n->place, "misc/rdma_cm") == 0)
		return FURTHER_INFINIBAND;
	return 0;
}

enum further_kind
further_judge(const struct devmajors *m, const struct gpu *g, const char *part, const struct further_node *n,
    unsigned *word)
{
	enum further_kind kind = FURTHER_UNKNOWN;
	unsigned bit;

	/* all parts of a GPU have its PCI address */
	if (part[0] == '\0' && n->pci[0] != '\0' && strcmp(n->pci, g->pci) == 0)
		return FURTHER_OF_GPU;
	if (g->vendor == GPU_NVIDIA)
		kind = judge_nvidia(m, n);
	if (kind != FURTHER_UNKNOWN)
		return kind;
	if (opens_gpus(m, n->major))
		return FURTHER_OF_GPUS;
	if ((bit = word_for(m, n)) == 0)
		return FURTHER_UNKNOWN;
	*word = bit;
	return FURTHER_BY_WORD;
}

/* Known nodes by path. Major 0: the kernel chooses it. ANY: unknown here. */
#define ANY (-1)
static const struct known_path {
	const char *name;
	bool numbered;		/* a number follows, which is the minor if the major is fixed */
	unsigned word;
	int major, minor;
} known[] = {
	{ "/dev/nvidia", true, 0, NVIDIA_MAJOR, ANY }, { "/dev/nvidiactl", false, 0, NVIDIA_MAJOR, CONTROL_MINOR },
	{ "/dev/nvidia-modeset", false, 0, NVIDIA_MAJOR, MODESET_MINOR }, { "/dev/nvidia-uvm", false, 0, 0, ANY },
	{ "/dev/nvidia-uvm-tools", false, 0, 0, ANY }, { "/dev/nvidia-caps/nvidia-cap", true, 0, 0, ANY },
	{ "/dev/kfd", false, 0, 0, ANY }, { "/dev/dri/card", true, 0, DRM_MAJOR, ANY },
	{ "/dev/dri/renderD", true, 0, DRM_MAJOR, ANY }, { "/dev/accel/accel", true, 0, ACCEL_MAJOR, ANY },
	{ "/dev/gdrdrv", false, FURTHER_GDRDRV, 0, ANY }, { "/dev/nvidia-fs", true, FURTHER_NVIDIA_FS, 0, ANY },
	{ IMEX_CHANNEL, true, FURTHER_IMEX, 0, ANY }, { "/dev/nvidia-nvswitch", true, FURTHER_NVSWITCH, 0, ANY },
	{ "/dev/nvidia-nvswitchctl", false, FURTHER_NVSWITCH, 0, ANY },
	{ "/dev/infiniband/uverbs", true, FURTHER_INFINIBAND, ANY, ANY },
	{ "/dev/infiniband/rdma_cm", false, FURTHER_INFINIBAND, ANY, ANY },
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
further_path_known(const char *path, unsigned *word)
{
	uint32_t number;
	const struct known_path *k = find_known(path, &number);

	if (k != NULL)
		*word = k->word;
	return k != NULL;
}

enum further_number
further_path_number(const char *path, int64_t major, int64_t minor)
{
	uint32_t number = 0;
	const struct known_path *k = find_known(path, &number);

	if (k == NULL || k->major == ANY)
		return FURTHER_NUMBER_FITS;
	/* fs/char_dev.c, find_dynamic_major() */
	if (k->major == 0)
		return (major >= 234 && major <= 254) || (major >= 384 && major <= 511) ? FURTHER_NUMBER_FITS : FURTHER_NUMBER_ODD;
	return major == k->major && minor == (k->numbered ? (int64_t)number : k->minor) ? FURTHER_NUMBER_FITS :
	    FURTHER_NUMBER_OTHER;
}
