/* See gpu.h: how the list of a host's GPUs is made.  The helper is told that list (inventorylines.h). */
#include <stdlib.h>
#include <string.h>

#include "../base/text.h"
#include "gpu.h"
#include "gpufind.h"

struct gpu *
inventory_add(struct inventory *inv, enum gpu_vendor vendor)
{
	struct gpu *v = reallocarray(inv->gpu, inv->gpus + 1, sizeof(*v));

	if (v == NULL)
		return NULL;
	inv->gpu = v;
	v[inv->gpus] = (struct gpu){ .vendor = vendor };
	return &v[inv->gpus++];
}

void
gpu_node_add(struct gpu_node v[GPU_NODES_MAX], size_t *n, struct gpu_node node)
{
	if (*n < GPU_NODES_MAX)
		v[(*n)++] = node;
}

bool
inventory_add_udev_clears(struct inventory *inv, uint32_t major, uint32_t minor)
{
	struct devnum *v = reallocarray(inv->udev_clears, inv->udev_clears_n + 1, sizeof(*v));

	if (v == NULL)
		return false;
	inv->udev_clears = v;
	v[inv->udev_clears_n++] = (struct devnum){ major, minor };
	return true;
}

bool
inventory_merge(const struct inventory *from, enum gpu_vendor v, struct inventory *to)
{
	struct gpu *g;
	size_t i;

	for (i = 0; i < from->gpus; i++) {
		if ((g = inventory_add(to, v)) == NULL)
			return false;
		*g = from->gpu[i];
		g->cdi = (struct strlist){ 0 };
	}
	for (i = 0; i < from->udev_clears_n; i++)
		if (!inventory_udev_clears(to, from->udev_clears[i].major, from->udev_clears[i].minor) &&
		    !inventory_add_udev_clears(to, from->udev_clears[i].major, from->udev_clears[i].minor))
			return false;
	memcpy(to->common[v], from->common[v], sizeof(to->common[v]));
	to->commons[v] = from->commons[v];
	memcpy(to->absent[v], from->absent[v], sizeof(to->absent[v]));
	if (v == GPU_NVIDIA)
		memcpy(to->nvidia_version, from->nvidia_version, sizeof(to->nvidia_version));
	return true;
}
