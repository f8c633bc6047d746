/* See hostcheck.h. */
#include "hostcheck.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/cleanup.h"
#include "../base/text.h"
#include "../gpu/gpufacts.h"
#include "../gpu/knownnode.h"
#include "../gpu/pick.h"
#include "../kernel/hexform.h"

#define PART_MAX 99

static int
refuse_host(struct why *why, const char *what, const char *of)
{
	return refuse(why, WHY_BUG, "gpuhelper-judge reports %s: %.100s", what, of);
}

/*
 * Only MIG has capabilities. All parts of a GPU have its own node, and all parts of an instance have the
 * instance's.
 */
static bool
is_fit(const struct gpu *g, const struct gpu_node *n)
{
	const bool cap = text_starts(n->path, MIG_NODE), part = g != NULL && g->part[0] != '\0';

	return n->read_only == cap && (!cap || part || (g != NULL && g->has_instances)) &&
	    (!n->shared || (part && (!cap || strchr(g->part, ':') != NULL)));
}

static int
check_fit(const struct gpu *g, const struct gpu_node *v, size_t n, struct why *why)
{
	size_t i;

	for (i = 0; i < n; i++)
		if ((v[i].needed_for & ~GPU_CAP_ALL) != 0 || !is_fit(g, &v[i]))
			return refuse_host(why, "a node that is no GPU's", v[i].path);
	return 0;
}

/* True for «GI» or «GI:CI», as gpu_part() writes it. */
static bool
is_part(const char *part)
{
	const char *colon = strchr(part, ':');
	char again[32];
	uint32_t gi, ci;

	snprintf(again, sizeof(again), "%.*s", colon != NULL ? (int)(colon - part) : 15, part);
	return text_u32(again, 0, PART_MAX, &gi) && (colon == NULL || text_u32(colon + 1, 0, PART_MAX, &ci));
}

/* True for a UUID in gpu.h's form, in lower case. */
static bool
is_uuid(const struct gpu *g)
{
	static const char *const forms[GPU_VENDORS] = { [GPU_NVIDIA] = NVIDIA_UUID_FORM, [GPU_AMD] = "0xhhhhhhhhhhhhhhhh" };

	return g->uuid[0] == '\0' || (forms[g->vendor] != NULL && has_hex_form(g->uuid, forms[g->vendor]) &&
	    strpbrk(g->uuid, "ABCDEF") == NULL);
}

static int
check_gpu_names(const struct gpu *g, struct why *why)
{
	char pci[sizeof(g->pci)], model[sizeof(g->model)];

	if (g->pci[0] != '\0' ? !pci_address_normalise(g->pci, pci) || strcmp(pci, g->pci) != 0 : g->unusable[0] == '\0')
		return refuse_host(why, "a GPU with an invalid PCI address", g->pci);
	if ((g->part[0] != '\0' || g->has_instances) && (g->vendor != GPU_NVIDIA ||
	    (g->part[0] != '\0' && !is_part(g->part)) || (g->part[0] != '\0' && g->has_instances)))
		return refuse_host(why, "an invalid part of a GPU", g->part);
	text_printable(model, sizeof(model), g->model);
	if (!is_uuid(g) || strcmp(model, g->model) != 0)
		return refuse_host(why, "a GPU with an invalid name", g->pci);
	return g->unusable[0] != '\0' || g->nodes > 0 ? 0 : refuse_host(why, "a GPU without a node", g->pci);
}

/* Which part of which physical GPU it is. */
static struct leased_gpu
held_as(const struct inventory *inv, const struct gpu *g)
{
	struct leased_gpu h = { .vendor = g->vendor };

	snprintf(h.pci, sizeof(h.pci), "%s", g->pci);
	gpu_part(inv, g, h.part);
	return h;
}

/* Parts of one GPU may share a node; GPUs that can be granted separately may not. */
static bool
may_have_both(const struct leased_gpu *a, const struct leased_gpu *b, const struct gpu_node *m,
    const struct gpu_node *n)
{
	if (m->major != n->major || m->minor != n->minor || leased_gpus_overlap(a, b))
		return true;
	return m->shared && n->shared && a->vendor == b->vendor && strcmp(a->pci, b->pci) == 0;
}

static int
check_apart(const struct gpu *g, const struct leased_gpu *a, const struct gpu *o, const struct leased_gpu *b,
    struct why *why)
{
	size_t i, k;

	if (leased_gpu_same(a, b))
		return refuse_host(why, "the same GPU twice", g->pci);
	for (i = 0; i < g->nodes; i++)
		for (k = 0; k < o->nodes; k++)
			if (!may_have_both(a, b, &g->node[i], &o->node[k]))
				return refuse_host(why, "one node of two GPUs", g->node[i].path);
	return 0;
}

static bool
counts(const struct inventory *inv, const struct gpu *g)
{
	/* nobody gets an unusable GPU */
	return inv->fault[g->vendor].code == WHY_NONE && g->unusable[0] == '\0';
}

/* If two GPUs that are granted separately have the same node, either may be wrong. */
static int
check_all_apart(struct inventory *inv, struct why *why)
{
	autofree struct leased_gpu *held = calloc(inv->gpus + 1, sizeof(*held));
	const struct gpu *g = inv->gpu;
	struct why bad;
	size_t i, k;

	if (held == NULL)
		return refuse_nomem(why);
	for (i = 0; i < inv->gpus; i++) {
		held[i] = held_as(inv, &g[i]);
		for (k = 0; k < i && counts(inv, &g[i]); k++)
			if (counts(inv, &g[k]) && check_apart(&g[i], &held[i], &g[k], &held[k], &bad) == -1)
				inv->fault[g[i].vendor] = inv->fault[g[k].vendor] = bad;
	}
	return 0;
}

static int
check_vendor(const struct inventory *inv, enum gpu_vendor v, struct why *why)
{
	const struct gpu *g;
	size_t i;

	if (v == GPU_NVIDIA && inv->nvidia_version[strspn(inv->nvidia_version, "0123456789.")] != '\0')
		return refuse_host(why, "an invalid driver version", inv->nvidia_version);
	if (known_nodes_check(inv, v, why) == -1 || check_fit(NULL, inv->common[v], inv->commons[v], why) == -1)
		return -1;
	for (i = 0; i < inv->gpus; i++) {
		g = &inv->gpu[i];
		if (g->vendor == v && (check_gpu_names(g, why) == -1 || check_fit(g, g->node, g->nodes, why) == -1))
			return -1;
	}
	return 0;
}

int
host_check(struct inventory *inv, struct why *why)
{
	struct why bad;
	unsigned v;

	for (v = 0; v < GPU_VENDORS; v++)
		if (inv->fault[v].code == WHY_NONE && check_vendor(inv, (enum gpu_vendor)v, &bad) == -1)
			inv->fault[v] = bad;
	return check_all_apart(inv, why);
}
