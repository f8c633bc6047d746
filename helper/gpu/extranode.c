/* See extranode.h. Knows drivers by their names in /proc/devices and in sysfs, which the kernel writes. */
#include "extranode.h"

#include <string.h>

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
static enum extra_kind
classify_nvidia(const struct devmajors *m, const struct extra_node *n)
{
	static const char *const driver[] = { "nvidia", "nvidia-frontend", NULL };

	if (is_major_of(m, n->major, "nvidia-uvm"))
		return EXTRA_OF_GPU;
	if (!is_driver_major(m, n->major, driver))
		return EXTRA_UNKNOWN;
	if (n->minor == NVIDIA_MODESET_MINOR)
		return EXTRA_DISPLAYS;
	return n->minor == NVIDIA_CONTROL_MINOR ? EXTRA_OF_GPU : EXTRA_UNKNOWN;
}

static unsigned
word_for(const struct devmajors *m, const struct extra_node *n)
{
	if (is_major_of(m, n->major, "gdrdrv"))
		return EXTRA_GDRDRV;
	if (is_major_of(m, n->major, "nvidia-fs"))
		return EXTRA_NVIDIA_FS;
	if (is_major_of(m, n->major, IMEX_DRIVER))
		return EXTRA_IMEX;
	if (is_major_of(m, n->major, "nvidia-nvswitch"))
		return EXTRA_NVSWITCH;
	/* uverbs shares its major with umad, and rdma_cm is one of many drivers of «misc» */
	if (text_starts(n->sysname, "infiniband_verbs/uverbs") || strcmp(n->sysname, "misc/rdma_cm") == 0)
		return EXTRA_INFINIBAND;
	return 0;
}

bool
extra_is_own(const struct gpu *g, const char *part, const struct extra_node *n)
{
	/* all parts of a GPU have its PCI address */
	return part[0] == '\0' && n->pci[0] != '\0' && strcmp(n->pci, g->pci) == 0;
}

enum extra_kind
extra_classify(const struct devmajors *m, const struct gpu *g, const char *part, const struct extra_node *n,
    unsigned *word)
{
	enum extra_kind kind = EXTRA_UNKNOWN;
	unsigned bit;

	if (extra_is_own(g, part, n))
		return EXTRA_OF_GPU;
	if (g->vendor == GPU_NVIDIA)
		kind = classify_nvidia(m, n);
	if (kind != EXTRA_UNKNOWN)
		return kind;
	if (opens_gpus(m, n->major))
		return EXTRA_OF_GPUS;
	if ((bit = word_for(m, n)) == 0)
		return EXTRA_UNKNOWN;
	*word = bit;
	return EXTRA_BY_WORD;
}
