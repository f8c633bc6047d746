/* See procmask.h. Knows the paths from open-gpu-kernel-modules, nv-procfs.c and nv-caps.c. */
#include "procmask.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define DRIVER "/proc/driver/nvidia"

/* How much is granted of the GPU at an address. */
enum share { SHARE_NONE, SHARE_PART, SHARE_ALL };

struct masking {
	const struct gpu *const *granted;
	size_t n;
	struct strlist *out;
};

static bool
mask(const struct masking *m, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static bool
mask(const struct masking *m, const char *fmt, ...)
{
	char path[128];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(path, sizeof(path), fmt, ap);
	va_end(ap);
	return strlist_has(m->out, path) || strlist_add(m->out, path, SIZE_MAX);
}

static enum share
granted_share(const struct masking *m, const struct gpu *g)
{
	enum share s = SHARE_NONE;
	size_t i;

	for (i = 0; i < m->n; i++)
		if (m->granted[i]->vendor == GPU_NVIDIA && strcmp(m->granted[i]->pci, g->pci) == 0 && s != SHARE_ALL)
			s = m->granted[i]->part[0] == '\0' ? SHARE_ALL : SHARE_PART;
	return s;
}

/* True if this instance is granted, one that contains it or, with «below», one in it. */
static bool
is_granted(const struct masking *m, const struct gpu *g, bool below)
{
	const char *part;
	size_t i, n, len = strlen(g->part);

	for (i = 0; i < m->n; i++) {
		part = m->granted[i]->part;
		n = strlen(part);
		if (m->granted[i]->vendor != GPU_NVIDIA || strcmp(m->granted[i]->pci, g->pci) != 0)
			continue;
		if (strcmp(part, g->part) == 0 || (strncmp(g->part, part, n) == 0 && g->part[n] == ':') ||
		    (below && strncmp(part, g->part, len) == 0 && part[len] == ':'))
			return true;
	}
	return false;
}

static bool
mask_part(const struct masking *m, const struct gpu *g)
{
	const char *ci = strchr(g->part, ':');
	const unsigned device = g->node[0].minor;

	if (ci == NULL)
		return is_granted(m, g, true) || mask(m, DRIVER "/capabilities/gpu%u/mig/gi%s", device, g->part);
	return is_granted(m, g, false) ||
	    mask(m, DRIVER "/capabilities/gpu%u/mig/gi%.*s/ci%s", device, (int)(ci - g->part), g->part, ci + 1);
}

bool
procmask_others(const struct inventory *inv, const struct gpu *const *granted, size_t n, struct strlist *out)
{
	const struct masking m = { granted, n, out };
	const struct gpu *g;
	bool ok = true;
	size_t i;

	for (i = 0; ok && i < inv->gpus; i++) {
		g = &inv->gpu[i];
		if (g->vendor != GPU_NVIDIA)
			continue;
		if (g->has_instances)
			ok = mask(&m, DRIVER "/capabilities/mig");
		switch (granted_share(&m, g)) {
		case SHARE_NONE:
			if (g->part[0] == '\0')
				ok = ok && mask(&m, DRIVER "/gpus/%s", g->pci) &&
				    (!g->has_instances || mask(&m, DRIVER "/capabilities/gpu%u", g->node[0].minor));
			break;
		case SHARE_PART:
			if (g->part[0] != '\0')
				ok = ok && mask_part(&m, g);
			break;
		case SHARE_ALL:
			break;
		}
	}
	return ok;
}
