/* See inventorylines.h. */
#include "inventorylines.h"

static void
devnum_words(struct lines *t, void *member)
{
	struct devnum *n = member;

	word_u32(t, &n->major);
	word_u32(t, &n->minor);
}

static void
inventory_node_words(struct lines *t, struct gpu_node *n)
{
	uint32_t needed = n->needed_for;

	word_text(t, n->path, sizeof(n->path));
	word_u32(t, &n->major);
	word_u32(t, &n->minor);
	word_u32(t, &needed);
	n->needed_for = needed;
	word_bool(t, &n->optional);
	word_bool(t, &n->read_only);
	word_bool(t, &n->shared);
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
		inventory_node_words(t, &v[i]);
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

	g->vendor = (enum gpu_vendor)word_index(t, g->vendor, GPU_VENDORS);
	word_text(t, g->pci, sizeof(g->pci));
	word_u32(t, &partition);
	g->partition = partition;
	word_text(t, g->part, sizeof(g->part));
	word_bool(t, &g->has_instances);
	word_text(t, g->uuid, sizeof(g->uuid));
	word_text(t, g->model, sizeof(g->model));
	word_bool(t, &g->integrated);
	word_text(t, g->unusable, sizeof(g->unusable));
	for (i = 0; i < GPU_JOINS; i++) {
		word_u32(t, &g->joined[i]);
		t->failed = t->failed || g->joined[i] > INVENTORY_GPUS_MAX;
	}
	nodes_lines(t, g->node, &g->nodes);
}

void
inventory_lines(struct lines *t, struct inventory *inv)
{
	unsigned v;

	lines_begin(t, "driver");
	word_text(t, inv->nvidia_version, sizeof(inv->nvidia_version));
	for (v = 0; v < GPU_VENDORS; v++) {
		lines_begin(t, "vendor");
		why_words(t, &inv->fault[v]);
		word_text(t, inv->absent[v], sizeof(inv->absent[v]));
		nodes_lines(t, inv->common[v], &inv->commons[v]);
	}
	lines_members(t, "flushed", (void **)&inv->udev_clears, &inv->udev_clears_n, SIZE_MAX, sizeof(*inv->udev_clears),
	    devnum_words);
	lines_members(t, "gpu", (void **)&inv->gpu, &inv->gpus, INVENTORY_GPUS_MAX, sizeof(*inv->gpu), inventory_gpu_lines);
}
