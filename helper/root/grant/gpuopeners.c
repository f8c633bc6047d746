/* See gpuopeners.h. Relies on what the kernel shows of processes; opens no node. */
#include "gpuopeners.h"

#include <stdlib.h>

#include "../../base/cleanup.h"
#include "../child/engine.h"
#include "../child/looker.h"

void
nodes_to_scan_free(struct nodes_to_scan *s)
{
	free(s->held);
	free(s->node);
	free(s->gpu);
}

static bool
grow(struct nodes_to_scan *s, size_t nodes)
{
	struct leased_gpu *held = reallocarray(s->held, s->n + 1, sizeof(*held));
	struct edit_node *node;
	size_t *gpu;

	if (held != NULL)
		s->held = held;
	if ((node = reallocarray(s->node, s->nodes + nodes + 1, sizeof(*node))) != NULL)
		s->node = node;
	if ((gpu = reallocarray(s->gpu, s->nodes + nodes + 1, sizeof(*gpu))) != NULL)
		s->gpu = gpu;
	return held != NULL && node != NULL && gpu != NULL;
}

static void
add_node(struct nodes_to_scan *s, const struct gpu_node *n)
{
	s->node[s->nodes] = (struct edit_node){ .major = n->major, .minor = n->minor };
	s->gpu[s->nodes++] = s->n;
}

static int
add_gpu(struct nodes_to_scan *s, const struct leased_gpu *held, const struct gpu *g,
    const struct extra_nodes *more, struct why *why)
{
	size_t i;

	if (!grow(s, g->nodes + more->n))
		return refuse_nomem(why);
	for (i = 0; i < g->nodes; i++)
		if (!g->node[i].shared)
			add_node(s, &g->node[i]);
	for (i = 0; i < more->n; i++)
		if (more->own[i] == g)
			add_node(s, &more->v[i]);
	s->held[s->n++] = *held;
	return 0;
}

int
gpu_openers_of_nodes(const struct nodes_to_scan *s, struct gpu_openers *out, struct why *why)
{
	autofree pid_t *opener = calloc(s->nodes + 1, sizeof(*opener));
	size_t i;

	*out = (struct gpu_openers){ 0 };
	if (s->nodes == 0)
		return 0;
	if (opener == NULL || (out->v = calloc(s->nodes, sizeof(*out->v))) == NULL)
		return refuse_nomem(why);
	if (looker_ask_openers(s->node, s->nodes, opener, why) == -1)
		return -1;
	for (i = 0; i < s->nodes; i++)
		if (opener[i] != 0)
			out->v[out->n++] = (struct gpu_opener){ s->held[s->gpu[i]], opener[i] };
	return 0;
}

/*
 * Finds the GPU's nodes that only CDI specs name. If a spec can't be used, nothing is granted by it, and
 * its nodes do not matter.
 */
static void
find_extra(const struct decision *d, const struct gpu *g, const struct gpu_rule *rule, struct extra_nodes *more)
{
	const struct granted_gpu granted = { g, rule };
	struct why ignored;

	if (engine_ask_nodes(d, &granted, 1, more, &ignored) == -1)
		*more = (struct extra_nodes){ .n = 0 };
}

int
gpu_openers_of_decision(const struct decision *d, struct gpu_openers *out, struct why *why)
{
	const struct gpu_grant *from;
	struct extra_nodes more;
	autoqueued struct queued w = { 0 };
	autonodestoscan struct nodes_to_scan s = { 0 };
	int ret = grant_demands(d, &w.demand, &w.demands, why);
	size_t i, k;

	*out = (struct gpu_openers){ 0 };
	for (i = 0; ret == 0 && i < w.demands; i++)
		for (k = 0; ret == 0 && k < w.demand[i].candidates; k++) {
			if (!w.demand[i].candidate[k].exclusive)
				continue;
			from = &d->grant.gpu[i];
			find_extra(d, from->candidate[k], from->rule, &more);
			ret = add_gpu(&s, &w.demand[i].candidate[k], from->candidate[k], &more, why);
		}
	return ret == 0 ? gpu_openers_of_nodes(&s, out, why) : -1;
}

int
nodes_to_scan_of_picks(const struct lease *l, const struct granted_gpu *pick, const struct extra_nodes *more,
    struct nodes_to_scan *out, struct why *why)
{
	size_t i;
	int ret = 0;

	*out = (struct nodes_to_scan){ 0 };
	for (i = 0; ret == 0 && i < l->gpus; i++)
		if (l->gpu[i].exclusive)
			ret = add_gpu(out, &l->gpu[i], pick[i].gpu, more, why);
	return ret;
}

void
gpu_openers_free(struct gpu_openers *s)
{
	free(s->v);
	*s = (struct gpu_openers){ 0 };
}
