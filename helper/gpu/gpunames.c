/* See gpu.h: the order of GPUs, and what they are called. The helper does not link this file. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "../kernel/kerneltext.h"
#include "gpu.h"
#include "gpufind.h"
#include "mig.h"

static int
compare_gpus(const void *pa, const void *pb)
{
	const struct gpu *a = pa, *b = pb;
	uint64_t x = UINT64_MAX, y = UINT64_MAX;

	if (a->vendor != b->vendor)
		return a->vendor < b->vendor ? -1 : 1;
	/* an entry without an address sorts last */
	(void)pci_address_parse(a->pci, &x);
	(void)pci_address_parse(b->pci, &y);
	if (x != y)
		return x < y ? -1 : 1;
	if (a->partition != b->partition)
		return a->partition < b->partition ? -1 : 1;
	if (strcmp(a->part, b->part) != 0)
		return mig_part_order(a->part) < mig_part_order(b->part) ? -1 : 1;
	return strcmp(a->node[0].path, b->node[0].path);
}

void
inventory_rank(struct inventory *inv)
{
	unsigned next[GPU_VENDORS] = { 0 };
	struct gpu *g;
	size_t i;

	if (inv->gpus > 0)
		qsort(inv->gpu, inv->gpus, sizeof(*inv->gpu), compare_gpus);
	for (i = 0; i < inv->gpus; i++) {
		g = &inv->gpu[i];
		if (g->part[0] != '\0' && i > 0)	/* its GPU is the entry before */
			g->rank = g[-1].rank;
		else
			g->rank = g->unusable[0] == '\0' ? next[g->vendor]++ : UINT_MAX;
	}
}

/* True if both are the same, with hex digits in either case. */
static bool
same_uuid(const char *a, const char *b)
{
	while (*a != '\0' && (*a == *b || (hex_digit(*a) >= 0 && hex_digit(*a) == hex_digit(*b))))
		a++, b++;
	return *a == '\0' && *b == '\0';
}

bool
gpu_is_named(const struct gpu *g, const char *name, bool by_rank)
{
	bool usable = g->unusable[0] == '\0';
	char pci[16], base[64];
	uint32_t n;
	size_t i;

	if (strchr(name, '=') != NULL)
		return strlist_has(&g->cdi, name);
	if (text_starts(name, "MIG-")) {
		for (i = 0; i < g->cdi.n; i++)
			if (strcmp(strchr(g->cdi.v[i], '=') + 1, name) == 0)
				return true;
		return false;
	}

	/* a GPU instance that is divided into compute instances is no GPU by itself */
	if (strcmp(name, "all") == 0)
		return usable && (g->part[0] == '\0' || strchr(g->part, ':') != NULL);
	if (g->part[0] != '\0') {
		if (!mig_name_split(name, g->part, base, sizeof(base)))
			return false;
		name = base;
	}
	if (g->uuid[0] != '\0' && same_uuid(g->uuid, name))
		return true;
	if (g->pci[0] != '\0' && pci_address_normalise(name, pci))
		return strcmp(pci, g->pci) == 0;
	return (by_rank || *name == '#') && usable && text_u32(name + (*name == '#'), 0, UINT_MAX - 1, &n) && n == g->rank;
}
