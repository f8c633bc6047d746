/* See inventorylines.h. */
#include "inventorylines.h"

static void
devnum_fields(struct lines *t, void *member)
{
	struct devnum *n = member;

	field_u32(t, &n->major);
	field_u32(t, &n->minor);
}

static void
inventory_node_fields(struct lines *t, struct gpu_node *n)
{
	uint32_t needed = n->needed_for;

	field_text(t, n->path, sizeof(n->path));
	field_u32(t, &n->major);
	field_u32(t, &n->minor);
	field_u32(t, &needed);
	n->needed_for = needed;
	field_bool(t, &n->optional);
	field_bool(t, &n->read_only);
	field_bool(t, &n->shared);
}

static void
nodes_lines(struct lines *t, struct gpu_node v[GPU_NODES_MAX], size_t *n)
{
	size_t i;

	for (i = 0; !t->failed && lines_more(t, "node", i < *n); i++) {
		if (i == GPU_NODES_MAX) {
			t->failed = true;
			return;
		}
		inventory_node_fields(t, &v[i]);
		if (t->out == NULL)
			*n = i + 1;
	}
}

static void
inventory_gpu_lines(struct lines *t, void *member)
{
	struct gpu *g = member;
	uint32_t partition = g->partition;
	size_t i;

	g->vendor = (enum gpu_vendor)field_index(t, g->vendor, GPU_VENDORS);
	field_text(t, g->pci, sizeof(g->pci));
	field_u32(t, &partition);
	g->partition = partition;
	field_text(t, g->part, sizeof(g->part));
	field_bool(t, &g->has_instances);
	field_text(t, g->uuid, sizeof(g->uuid));
	field_text(t, g->model, sizeof(g->model));
	field_bool(t, &g->integrated);
	field_text(t, g->unusable, sizeof(g->unusable));
	for (i = 0; i < GPU_JOINS; i++) {
		field_u32(t, &g->joined[i]);
		t->failed = t->failed || g->joined[i] > INVENTORY_GPUS_MAX;
	}
	nodes_lines(t, g->node, &g->nodes);
}

void
inventory_lines(struct lines *t, struct inventory *inv)
{
	unsigned v;

	lines_begin(t, "driver");
	field_text(t, inv->nvidia_version, sizeof(inv->nvidia_version));
	for (v = 0; v < GPU_VENDORS; v++) {
		lines_begin(t, "vendor");
		why_fields(t, &inv->fault[v]);
		field_text(t, inv->absent[v], sizeof(inv->absent[v]));
		nodes_lines(t, inv->common[v], &inv->commons[v]);
	}
	lines_members(t, "flushed", (void **)&inv->udev_clears, &inv->udev_clears_n, SIZE_MAX, sizeof(*inv->udev_clears),
	    devnum_fields);
	lines_members(t, "gpu", (void **)&inv->gpu, &inv->gpus, INVENTORY_GPUS_MAX, sizeof(*inv->gpu), inventory_gpu_lines);
}
