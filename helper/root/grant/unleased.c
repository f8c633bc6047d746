/* See unleased.h. Relies on what the kernel shows of processes; opens no node. */
#include "unleased.h"

#include <stdlib.h>

#include "../../base/cleanup.h"
#include "../child/engine.h"
#include "../child/looker.h"

void
sought_free(struct sought *s)
{
	free(s->held);
	free(s->node);
	free(s->gpu);
}

static bool
grow(struct sought *s, size_t nodes)
{
	struct held_gpu *held = reallocarray(s->held, s->n + 1, sizeof(*held));
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
search_node(struct sought *s, const struct gpu_node *n)
{
	s->node[s->nodes] = (struct edit_node){ .major = n->major, .minor = n->minor };
	s->gpu[s->nodes++] = s->n;
}

static int
search_held(struct sought *s, const struct held_gpu *held, const struct gpu *g, const struct driver_nodes *more,
    struct why *why)
{
	size_t i;

	if (!grow(s, g->nodes + more->n))
		return refuse_nomem(why);
	for (i = 0; i < g->nodes; i++)
		if (!g->node[i].shared)
			search_node(s, &g->node[i]);
	for (i = 0; i < more->n; i++)
		if (more->own[i] == g)
			search_node(s, &more->v[i]);
	s->held[s->n++] = *held;
	return 0;
}

int
unleased_of_sought(const struct sought *s, struct unleased *out, struct why *why)
{
	autofree pid_t *holder = calloc(s->nodes + 1, sizeof(*holder));
	size_t i;

	*out = (struct unleased){ 0 };
	if (s->nodes == 0)
		return 0;
	if (holder == NULL || (out->v = calloc(s->nodes, sizeof(*out->v))) == NULL)
		return refuse_nomem(why);
	if (looker_ask_holders(s->node, s->nodes, holder, why) == -1)
		return -1;
	for (i = 0; i < s->nodes; i++)
		if (holder[i] != 0)
			out->v[out->n++] = (struct unleased_use){ s->held[s->gpu[i]], holder[i] };
	return 0;
}

/*
 * Finds the GPU's nodes that only CDI specs name. If a spec can't be used, nothing is granted by it, and
 * its nodes do not matter.
 */
static void
find_extra(const struct decision *d, const struct gpu *g, const struct gpu_rule *rule, struct driver_nodes *more)
{
	const struct driver_want want = { g, rule };
	struct why ignored;

	if (engine_ask_nodes(d, &want, 1, more, &ignored) == -1)
		*more = (struct driver_nodes){ .n = 0 };
}

int
unleased_of_wants(const struct decision *d, struct unleased *out, struct why *why)
{
	const struct gpu_want *from;
	struct driver_nodes more;
	autoqueued struct queued w = { 0 };
	autosought struct sought s = { 0 };
	int ret = grant_wants(d, &w.want, &w.wants, why);
	size_t i, k;

	*out = (struct unleased){ 0 };
	for (i = 0; ret == 0 && i < w.wants; i++)
		for (k = 0; ret == 0 && k < w.want[i].candidates; k++) {
			if (!w.want[i].candidate[k].exclusive)
				continue;
			from = &d->grant.gpu[i];
			find_extra(d, from->candidate[k], from->rule, &more);
			ret = search_held(&s, &w.want[i].candidate[k], from->candidate[k], &more, why);
		}
	return ret == 0 ? unleased_of_sought(&s, out, why) : -1;
}

int
sought_of_picks(const struct lease *l, const struct allotted *pick, const struct driver_nodes *more,
    struct sought *out, struct why *why)
{
	size_t i;
	int ret = 0;

	*out = (struct sought){ 0 };
	for (i = 0; ret == 0 && i < l->gpus; i++)
		if (l->gpu[i].exclusive)
			ret = search_held(out, &l->gpu[i], pick[i].gpu, more, why);
	return ret;
}

void
unleased_free(struct unleased *s)
{
	free(s->v);
	*s = (struct unleased){ 0 };
}
