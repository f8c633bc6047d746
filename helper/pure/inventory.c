/* See gpu.h: the list of a host's GPUs, as such. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu.h"
#include "text.h"

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

void
gpu_part(const struct inventory *inv, const struct gpu *g, char out[16])
{
	size_t i, there = 0;

	for (i = 0; i < inv->gpus; i++)
		there += inv->gpu[i].vendor == GPU_AMD && strcmp(inv->gpu[i].pci, g->pci) == 0;
	snprintf(out, 16, "%s", g->part);
	if (g->vendor == GPU_AMD && there > 1)
		snprintf(out, 16, "%u", g->partition);
}

void
inventory_free(struct inventory *inv)
{
	size_t i;

	for (i = 0; i < inv->gpus; i++)
		strlist_free(&inv->gpu[i].cdi);
	free(inv->gpu);
	devmajors_free(&inv->majors);
	*inv = (struct inventory){ 0 };
}
