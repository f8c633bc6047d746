/* See cdigpu.h: why a CDI device is no GPU of this host. */
#include <string.h>

#include "../base/path.h"
#include "cdigpu.h"

const char *
cdi_no_gpu(const struct cdi_device *d, const struct inventory *inv)
{
	const struct gpu *first = NULL, *g;
	bool elsewhere = false;
	const char *path;
	size_t i;

	for (i = 0; i < d->edits.nodes; i++) {
		path = cdi_node_source(&d->edits.node[i]);
		elsewhere = elsewhere || !path_is_beneath(path, "/dev");
		if ((g = gpu_of_node(inv, path)) == NULL)
			continue;
		if (first != NULL && strcmp(first->pci, g->pci) != 0)
			return "has nodes of several GPUs";
		first = g;
	}
	if (d->edits.nodes == 0)
		return "has no device node";
	if (elsewhere)
		return "has a node outside of /dev";
	return first != NULL ? "lacks a node of its GPU" : "has no node of a GPU of this host";
}
