/*
 * See cdigpu.h. Compares paths: both sides name the host's /dev, because host/driver/cdigpus.c replaced other paths of
 * the same nodes. root/node/device.c checks the numbers.
 */
#include "cdigpu.h"

#include <string.h>

const char *
cdi_node_source(const struct cdi_devnode *n)
{
	return n->host_path != NULL && n->host_path[0] != '\0' ? n->host_path : n->path;
}

static bool
has_path(const struct gpu_node *n, const void *path)
{
	return strcmp(n->path, path) == 0;
}

static bool
has_number(const struct gpu_node *n, const void *number)
{
	const int64_t *want = number;

	return n->major != GPU_NODE_NO_MODULE && n->major == want[0] && n->minor == want[1];
}

static const struct gpu_node *
find_among(const struct gpu_node *v, size_t n, bool (*fits)(const struct gpu_node *, const void *), const void *what)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (fits(&v[i], what))
			return &v[i];
	return NULL;
}

static const struct gpu_node *
find_anywhere(const struct inventory *inv, bool (*fits)(const struct gpu_node *, const void *), const void *what)
{
	const struct gpu_node *n = NULL;
	size_t i;

	for (i = 0; i < inv->gpus && n == NULL; i++)
		n = find_among(inv->gpu[i].node, inv->gpu[i].nodes, fits, what);
	for (i = 0; i < GPU_VENDORS && n == NULL; i++)
		n = find_among(inv->common[i], inv->commons[i], fits, what);
	return n;
}

const struct gpu_node *
cdi_node_of_path(const struct inventory *inv, const char *path)
{
	return find_anywhere(inv, has_path, path);
}

const struct gpu_node *
cdi_node_of_number(const struct inventory *inv, int64_t major, int64_t minor)
{
	return find_anywhere(inv, has_number, (const int64_t[]){ major, minor });
}

bool
cdi_node_is_numbered(const struct cdi_devnode *n)
{
	return (n->type == 0 || n->type == 'c' || n->type == 'u') && n->major.set && n->major.v != 0;
}

static const struct gpu_node *
find_node(const struct gpu_node *v, size_t n, const char *path)
{
	return find_among(v, n, has_path, path);
}

static bool
device_has_node(const struct cdi_device *d, const char *path)
{
	size_t i;

	for (i = 0; i < d->edits.nodes; i++)
		if (strcmp(cdi_node_source(&d->edits.node[i]), path) == 0)
			return true;
	return false;
}

static bool
has_all_of(const struct cdi_device *d, const struct gpu *g)
{
	size_t i;

	for (i = 0; i < g->nodes; i++)
		if (!g->node[i].optional && !device_has_node(d, g->node[i].path))
			return false;
	return g->nodes > 0;
}

static bool
has_none_of_others(const struct cdi_device *d, const struct inventory *inv, const struct gpu *g)
{
	const char *path;
	size_t i, k;

	for (i = 0; i < d->edits.nodes; i++) {
		path = cdi_node_source(&d->edits.node[i]);
		if (find_node(g->node, g->nodes, path) != NULL)
			continue;
		for (k = 0; k < inv->gpus; k++)
			if (find_node(inv->gpu[k].node, inv->gpu[k].nodes, path) != NULL)
				return false;
	}
	return true;
}

struct gpu *
cdi_gpu_of(const struct cdi_device *d, const struct inventory *inv)
{
	struct gpu *found = NULL, *g;
	size_t i;

	for (i = 0; i < inv->gpus; i++) {
		g = &inv->gpu[i];
		if (has_all_of(d, g) && has_none_of_others(d, inv, g) &&
		    (found == NULL || strlen(g->part) > strlen(found->part)))
			found = g;
	}
	return found;
}

static bool
has_nodes_of(const struct gpu *a, const struct gpu *b)
{
	size_t i;

	for (i = 0; i < b->nodes; i++)
		if (find_node(a->node, a->nodes, b->node[i].path) == NULL)
			return false;
	return true;
}

const struct gpu *
cdi_same_gpu(const struct inventory *inv, const struct gpu *g)
{
	const struct gpu *o;
	size_t i;

	for (i = 0; g->cdi.n == 0 && i < inv->gpus; i++) {
		o = &inv->gpu[i];
		if (o->cdi.n > 0 && o->vendor == g->vendor && has_nodes_of(o, g) && has_nodes_of(g, o))
			return o;
	}
	return g;
}

bool
gpu_has_node(const struct inventory *inv, const struct gpu *g, const char *path)
{
	return find_node(g->node, g->nodes, path) != NULL ||
	    find_node(inv->common[g->vendor], inv->commons[g->vendor], path) != NULL;
}

const struct gpu *
gpu_of_node(const struct inventory *inv, const char *path)
{
	size_t i;

	for (i = 0; i < inv->gpus; i++)
		if (find_node(inv->gpu[i].node, inv->gpu[i].nodes, path) != NULL)
			return &inv->gpu[i];
	return NULL;
}
