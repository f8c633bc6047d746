/* See leasegpus.h. Called under the lock on the leases. Touches no file. */
#include "leasegpus.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../base/cleanup.h"

static int
give_nodes(struct lease *l, const struct gpu_node *node, size_t n, struct why *why)
{
	struct edit_node *v = reallocarray(l->node, l->nodes + n + 1, sizeof(*v));
	size_t i;

	if (v == NULL)
		return refuse_nomem(why);
	l->node = v;
	for (i = 0; i < n; i++) {
		/* a node that several GPUs share does not show which of them is in use */
		if (node[i].shared)
			continue;
		v[l->nodes] = (struct edit_node){ .major = node[i].major, .minor = node[i].minor };
		snprintf(v[l->nodes].path, sizeof(v->path), "%s", node[i].path);
		l->nodes++;
	}
	return 0;
}

int
lease_add_extra(const struct extra_nodes *more, struct lease *l, struct why *why)
{
	size_t i;

	for (i = 0; i < more->n; i++)
		if (more->own[i] != NULL && give_nodes(l, &more->v[i], 1, why) == -1)
			return -1;
	return 0;
}

/* Adds the GPU and its own nodes to the lease. */
static int
give_gpu(struct lease *l, const struct leased_gpu *h, const struct gpu *g, struct why *why)
{
	struct leased_gpu *v = reallocarray(l->gpu, l->gpus + 1, sizeof(*v));

	if (v == NULL)
		return refuse_nomem(why);
	l->gpu = v;
	v[l->gpus++] = *h;
	return give_nodes(l, g->node, g->nodes, why);
}

int
lease_promise_all(const struct decision *d, const struct queued *w, struct lease_tasks *p, struct granted_gpu *out,
    size_t *n)
{
	size_t i, k;

	if ((p->promised_gpu = calloc(*n, sizeof(*p->promised_gpu))) == NULL)
		return -1;
	for (i = 0; i < w->demands; i++)
		for (k = 0; k < w->demand[i].candidates; k++) {
			out[p->promised_gpus] = (struct granted_gpu){ d->grant.gpu[i].candidate[k], d->grant.gpu[i].rule };
			p->promised_gpu[p->promised_gpus++] = w->demand[i].candidate[k];
		}
	*n = p->promised_gpus;
	return 0;
}

static int
refuse_picks(const char *what, struct why *why)
{
	return refuse(why, WHY_BUG, "gpuhelper-engine picked %s", what);
}

/* Of each demand, as many GPUs as it says. */
static int
check_counts(const struct queued *w, const struct pick *picks, size_t n, struct why *why)
{
	size_t i, k, has, all = 0;

	for (i = 0; i < w->demands; i++) {
		for (has = 0, k = 0; k < n; k++)
			has += picks[k].demand == i && picks[k].candidate < w->demand[i].candidates;
		if (has != w->demand[i].count)
			return refuse_picks("more or fewer GPUs than the request gets", why);
		all += has;
	}
	return all == n ? 0 : refuse_picks("a GPU that the request may not get", why);
}

/* That others, and the earlier picks, leave room for each. */
static int
check_room(const struct leases *ls, const struct queued *w, const struct pick *picks, size_t n, struct why *why)
{
	autofree struct holding *held = calloc(ls->n + 1, sizeof(*held));
	const struct leased_gpu *g;
	size_t i, k;

	if (held == NULL)
		return refuse_nomem(why);
	for (i = 0; i < ls->n; i++)
		held[i] = lease_holding(ls->v[i]);
	for (i = 0; i < n; i++) {
		g = &w->demand[picks[i].demand].candidate[picks[i].candidate];
		if (!pick_has_room(held, ls->n, g))
			return refuse_picks("a GPU that another container has", why);
		for (k = 0; k < i; k++)
			if (leased_gpus_overlap(&w->demand[picks[k].demand].candidate[picks[k].candidate], g))
				return refuse_picks("a GPU twice", why);
	}
	return 0;
}

int
lease_take_picks(const struct leases *ls, const struct decision *d, const struct queued *w, const struct pick *picks,
    size_t n, struct lease *l, struct granted_gpu *out, struct why *why)
{
	const struct gpu_grant *from;
	size_t i;
	int ret = n <= GPUS_MAX && check_counts(w, picks, n, why) == 0 && check_room(ls, w, picks, n, why) == 0 ? 0 : -1;

	for (i = 0; ret == 0 && i < n; i++) {
		from = &d->grant.gpu[picks[i].demand];
		out[i] = (struct granted_gpu){ from->candidate[picks[i].candidate], from->rule };
		ret = give_gpu(l, &w->demand[picks[i].demand].candidate[picks[i].candidate], out[i].gpu, why);
	}
	return ret;
}

/* True if the lease holds a node that the container needs for this pick. */
static bool
holds_node_of(const struct lease *l, const struct granted_gpu *pick)
{
	const struct gpu_node *n;
	size_t i, k;

	for (i = 0; i < pick->gpu->nodes; i++) {
		n = &pick->gpu->node[i];
		for (k = 0; k < l->nodes && gpu_node_is_needed(n, pick->rule->capabilities); k++)
			if (n->major == l->node[k].major && n->minor == l->node[k].minor)
				return true;
	}
	return false;
}

static bool
has_some_of(const struct lease *l, const struct leased_gpu *g)
{
	size_t i;

	for (i = 0; i < l->gpus; i++)
		if (leased_gpus_overlap(&l->gpu[i], g))
			return true;
	return false;
}

int
lease_check_nodes(const struct leases *ls, const struct lease *l, const struct granted_gpu *picks, struct why *why)
{
	const struct lease *o;
	size_t i, k;

	for (i = 0; i < ls->n; i++) {
		o = ls->v[i];
		if (lease_only_promises(o) || strcmp(o->key, l->key) == 0)
			continue;
		for (k = 0; k < l->gpus; k++)
			/* a lease that shares the GPU may hold its nodes */
			if (!has_some_of(o, &l->gpu[k]) && holds_node_of(o, &picks[k]))
				return refuse(why, WHY_IO, "a node of GPU %s is another GPU's in the lease of container %.64s: see "
				    "gpuhelperctl devices and status", l->gpu[k].pci, o->id);
	}
	return 0;
}
