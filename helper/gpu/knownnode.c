/* See knownnode.h. */
#include "knownnode.h"

#include <string.h>

#include "../base/text.h"
#include "../kernel/kerneltext.h"

#define DRIVERS 3

/* Nodes of GPUs, by path. */
static const struct known_node {
	const char *path;
	bool numbered;			/* the path ends in the minor, in decimal */
	uint32_t least, most;		/* minors */
	bool common;			/* of all of the vendor's GPUs */
	enum gpu_vendor vendor;		/* vendor of the GPUs; GPU_VENDORS: any */
	uint32_t major;			/* fixed; 0: that of one of the drivers in /proc/devices */
	const char *driver[DRIVERS];
} known_nodes[] = {
	{ "/dev/nvidia", true, 0, NVIDIA_MINOR_MAX, false, GPU_NVIDIA, 0, { "nvidia", "nvidia-frontend" } },
	/*
	 * only MIG's: other capabilities of the driver belong to no GPU (mig-minors in
	 * /proc/driver/nvidia-caps)
	 */
	{ MIG_NODE, true, 3, 4322, false, GPU_NVIDIA, 0, { "nvidia-caps" } },
	{ "/dev/nvidiactl", false, 255, 255, true, GPU_NVIDIA, 0, { "nvidiactl", "nvidia", "nvidia-frontend" } },
	{ "/dev/nvidia-modeset", false, 254, 254, true, GPU_NVIDIA, 0, { "nvidia-modeset" } },
	{ "/dev/nvidia-uvm", false, 0, 0, true, GPU_NVIDIA, 0, { "nvidia-uvm" } },
	{ "/dev/nvidia-uvm-tools", false, 1, 1, true, GPU_NVIDIA, 0, { "nvidia-uvm" } },
	{ "/dev/kfd", false, 0, 0, true, GPU_AMD, 0, { "kfd" } },
	{ "/dev/dri/renderD", true, RENDER_MINOR_MIN, MINOR_MAX, false, GPU_VENDORS, DRM_MAJOR, { NULL } },
	{ "/dev/dri/card", true, 0, MINOR_MAX, false, GPU_NVIDIA, DRM_MAJOR, { NULL } },
	{ "/dev/accel/accel", true, 0, MINOR_MAX, false, GPU_INTEL, ACCEL_MAJOR, { NULL } },
};

static bool
has_path(const struct known_node *k, const struct gpu_node *n)
{
	uint32_t minor = k->least;

	if (k->numbered ? !text_starts(n->path, k->path) ||
	    !text_u32(n->path + strlen(k->path), k->least, k->most, &minor) : strcmp(n->path, k->path) != 0)
		return false;
	return n->minor == minor;
}

static bool
node_has_major(const struct known_node *k, const struct devmajors *m, const struct gpu_node *n)
{
	uint32_t major;
	size_t i;

	if (k->major != 0)
		return n->major == k->major;
	for (i = 0; i < DRIVERS && k->driver[i] != NULL; i++)
		if (devmajors_char(m, k->driver[i], &major) && n->major == major)
			return true;
	/* a container that needs this node is refused */
	return n->major == GPU_NODE_NO_MODULE && strcmp(n->path, "/dev/nvidia-uvm") == 0;
}

unsigned
known_node_vendors(const struct devmajors *m, const struct gpu_node *n)
{
	const struct known_node *k;
	unsigned vendors = 0;

	for (k = known_nodes; k < known_nodes + sizeof(known_nodes) / sizeof(known_nodes[0]); k++)
		if (has_path(k, n) && node_has_major(k, m, n))
			vendors |= k->vendor == GPU_VENDORS ? GPUS_ALL : 1U << k->vendor;
	return vendors;
}

/* g: the GPU that has the node; NULL: all of the vendor's have it. */
static bool
is_known(const struct inventory *inv, const struct gpu *g, const struct gpu_node *n, enum gpu_vendor vendor)
{
	const struct known_node *k;

	for (k = known_nodes; k < known_nodes + sizeof(known_nodes) / sizeof(known_nodes[0]); k++)
		if (k->common == (g == NULL) && (k->vendor == vendor || k->vendor == GPU_VENDORS) && has_path(k, n) &&
		    node_has_major(k, &inv->majors, n))
			return true;
	return false;
}

static int
check_nodes(const struct inventory *inv, const struct gpu *g, const struct gpu_node *v, size_t n,
    enum gpu_vendor vendor, struct why *why)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!is_known(inv, g, &v[i], vendor))
			return refuse(why, WHY_BUG, "gpuhelper-judge reports a node that is no GPU's: %.100s", v[i].path);
	return 0;
}

int
known_nodes_check(const struct inventory *inv, enum gpu_vendor v, struct why *why)
{
	const struct gpu *g;
	size_t i;

	if (check_nodes(inv, NULL, inv->common[v], inv->commons[v], v, why) == -1)
		return -1;
	for (i = 0; i < inv->gpus; i++) {
		g = &inv->gpu[i];
		if (g->vendor == v && check_nodes(inv, g, g->node, g->nodes, v, why) == -1)
			return -1;
	}
	return 0;
}
