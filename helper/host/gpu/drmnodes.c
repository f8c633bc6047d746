/* See drmnodes.h. */
#include "drmnodes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

bool
drm_nodes_add(struct drm_nodes *nodes, const struct drm_node *n)
{
	struct drm_node *v = reallocarray(nodes->v, nodes->n + 1, sizeof(*v));

	if (v == NULL)
		return false;
	nodes->v = v;
	nodes->v[nodes->n++] = *n;
	return true;
}

void
drm_nodes_free(struct drm_nodes *nodes)
{
	free(nodes->v);
	*nodes = (struct drm_nodes){ 0 };
}

bool
char_device_exists(uint32_t major, uint32_t minor)
{
	char path[48];

	snprintf(path, sizeof(path), "/sys/dev/char/%u:%u", major, minor);
	return access(path, F_OK) == 0 || errno != ENOENT;
}
