/* See pickgpus.h: which of the candidates are picked. The helper does not link this file. */
#include "pickgpus.h"

#include <string.h>

#include "inventorylines.h"

/* What there is of a physical GPU, at its first entry: holders of it and its parts, picks, candidates with room. */
struct tally {
	unsigned short used, own, room;
};

/* The same of a group of joined GPUs; whole: how many of them nobody holds, nor a part of them. */
struct group {
	unsigned short own, room, whole;
};

/* What pick_gpus() has picked so far, and for whom. */
struct choosing {
	const struct holding *held;
	size_t n;
	const struct inventory *inv;
	const struct gpu_demand *demand;
	struct pick *picks;
	size_t picked;
	struct tally of[INVENTORY_GPUS_MAX + 1];	/* by index_of() */
	/* before each pick: by a GPU's vendor, what joins it, and its number of that (gpu.joined) */
	struct group group[GPU_VENDORS][GPU_JOINS][INVENTORY_GPUS_MAX + 1];
	/* of the candidates of the present want */
	bool has_room[CANDIDATES_MAX];
	unsigned short index[CANDIDATES_MAX];
};

/* True if the container can get the candidate beside its earlier picks. */
static bool
is_free(const struct choosing *p, const struct leased_gpu *g)
{
	size_t i;

	for (i = 0; i < p->picked; i++)
		if (leased_gpus_overlap(&p->demand[p->picks[i].demand].candidate[p->picks[i].candidate], g))
			return false;
	return pick_has_room(p->held, p->n, g);
}

/* The GPU's first entry in the inventory; its parts follow. One place is for all GPUs that the inventory lacks. */
static size_t
index_of(const struct inventory *inv, const struct leased_gpu *g)
{
	size_t i;

	for (i = 0; i < inv->gpus; i++)
		if (inv->gpu[i].vendor == g->vendor && strcmp(inv->gpu[i].pci, g->pci) == 0)
			return i;
	return INVENTORY_GPUS_MAX;
}

/* True if this is the first entry of a GPU that nobody holds, nor a part of it. */
static bool
is_whole(const struct choosing *p, size_t i)
{
	const struct gpu *g = &p->inv->gpu[i];

	return p->of[i].used + p->of[i].own == 0 && g->unusable[0] == '\0' && (i == 0 || strcmp(g[-1].pci, g->pci) != 0);
}

static unsigned
at_most(unsigned max, unsigned n)
{
	return n < max ? n : max;
}

/* Sums up the groups of joined GPUs. */
static void
sum_groups(struct choosing *p)
{
	const struct gpu *g = p->inv->gpu;
	struct group *sum;
	unsigned by;
	size_t i;

	for (i = 0; i < p->inv->gpus; i++)
		for (by = 0; by < GPU_JOINS; by++)
			p->group[g[i].vendor][by][g[i].joined[by]] = (struct group){ 0 };
	for (i = 0; i < p->inv->gpus; i++)
		for (by = 0; by < GPU_JOINS; by++) {
			sum = &p->group[g[i].vendor][by][g[i].joined[by]];
			sum->own += p->of[i].own;
			sum->room += p->of[i].room;
			sum->whole += is_whole(p, i);
		}
}

/*
 * Adds to a cost what it costs to take a GPU from its group: a byte that is less the more GPUs of the group the
 * container has, and a byte that is least for groups with enough for the container, by the number of their whole GPUs;
 * and less the more there is in groups that have too few. A GPU that is not joined is a group of its own.
 */
static uint64_t
add_group_cost(uint64_t cost, const struct choosing *p, size_t index, unsigned by, unsigned left)
{
	const struct gpu *g = &p->inv->gpu[index];
	const struct group alone = { p->of[index].own, p->of[index].room, is_whole(p, index) };
	const struct group *sum = g->joined[by] != 0 ? &p->group[g->vendor][by][g->joined[by]] : &alone;

	return cost << 16 | (255 - at_most(255, sum->own)) << 8 |
	    (sum->room >= left ? at_most(127, sum->whole) : 255 - at_most(127, sum->room));
}

/*
 * What it costs to pick this candidate of a want for «left» more. A byte counts only between candidates whose higher
 * bytes are the same: first the holders, then the parts in use of the same GPU, then what joins it to others.
 */
static uint64_t
cost_of(const struct choosing *p, const struct leased_gpu *g, size_t index, unsigned left)
{
	const struct tally *t = &p->of[index];
	unsigned limit, by;
	bool exclusive;
	/* the candidate has room, so its holders hold exactly the candidate: of a part, not of its GPU's other parts */
	uint64_t cost = at_most(255, holders_of(p->held, p->n, g, &exclusive, &limit));

	cost = cost << 8 | (255 - at_most(255, (unsigned)t->used + t->own));
	for (by = 0; by < GPU_JOINS && index < p->inv->gpus; by++)
		cost = add_group_cost(cost, p, index, by, left);
	return cost;
}

/* The best of the first n candidates of a want to take next, of which «left» are wanted; n if there is none. */
static size_t
best_of(struct choosing *p, const struct gpu_demand *w, size_t n, unsigned left)
{
	uint64_t cost, least = UINT64_MAX;
	size_t i, best = n;

	for (i = 0; i < p->inv->gpus; i++)
		p->of[i].room = 0;
	for (i = 0; i < n; i++) {
		p->has_room[i] = is_free(p, &w->candidate[i]);
		p->of[p->index[i]].room += p->has_room[i];
	}
	sum_groups(p);
	for (i = 0; i < n; i++)
		if (p->has_room[i] && (cost = cost_of(p, &w->candidate[i], p->index[i], left)) < least) {
			best = i;
			least = cost;
		}
	return best;
}

/* Picks for one want. False if there are too few candidates, or if «max» is reached. */
static bool
pick_for(struct choosing *p, size_t demand, size_t max)
{
	const struct gpu_demand *w = &p->demand[demand];
	const size_t n = w->candidates < CANDIDATES_MAX ? w->candidates : CANDIDATES_MAX;
	unsigned left;
	size_t i, best;

	for (i = 0; i < n; i++)
		p->index[i] = (unsigned short)index_of(p->inv, &w->candidate[i]);
	for (left = w->count; left > 0; left--) {
		best = best_of(p, w, n, left);
		if (best == n || p->picked == max)
			return false;
		p->picks[p->picked++] = (struct pick){ demand, best };
		p->of[p->index[best]].own++;
	}
	return true;
}

bool
pick_gpus(const struct holding *held, size_t n, const struct inventory *inv, const struct gpu_demand *demand,
    size_t demands, struct pick *picks, size_t max, size_t *picked)
{
	struct choosing p = { .held = held, .n = n, .inv = inv, .demand = demand, .picks = picks };
	bool all = true;
	size_t i, k, choice;

	for (i = 0; i < n; i++)
		for (k = 0; k < held[i].gpus; k++)
			p.of[index_of(inv, &held[i].gpu[k])].used++;
	/* wants without a choice go first, because one with a choice may take what they need */
	for (choice = 0; choice < 2; choice++)
		for (i = 0; i < demands; i++)
			if ((demand[i].candidates > demand[i].count) == choice && !pick_for(&p, i, max))
				all = false;
	*picked = p.picked;
	return all;
}
