/* See gpu.h: operations on the list of a host's GPUs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/text.h"
#include "gpu.h"

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

bool
inventory_udev_clears(const struct inventory *inv, uint32_t major, uint32_t minor)
{
	size_t i;

	for (i = 0; i < inv->udev_clears_n; i++)
		if (inv->udev_clears[i].major == major && inv->udev_clears[i].minor == minor)
			return true;
	return false;
}

void
inventory_free(struct inventory *inv)
{
	size_t i;

	for (i = 0; i < inv->gpus; i++)
		strlist_free(&inv->gpu[i].cdi);
	strlist_free(&inv->cdi_others);
	free(inv->gpu);
	free(inv->udev_clears);
	devmajors_free(&inv->majors);
	strlist_free(&inv->cdi_problem);
	strlist_free(&inv->cdi_problem_kind);
	*inv = (struct inventory){ 0 };
}
