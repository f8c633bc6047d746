/*
 * See allot.h. Called under the lock on the leases. Touches no file: gives gpu/pick.c what
 * leaselist.c and queue.c have read.
 */
#include "allot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../base/cleanup.h"
#include "waitrefusal.h"

int
allot_fill_wants(const struct decision *d, struct queued *w, struct why *why)
{
	const struct grant *g = &d->grant;
	const struct gpu_want *from;
	struct held_gpu *h;
	size_t i, k;

	if ((w->want = calloc(g->gpus + 1, sizeof(*w->want))) == NULL)
		return refuse_nomem(why);
	for (i = 0; i < g->gpus; i++) {
		from = &g->gpu[i];
		w->want[i] = (struct pick_want){ .candidates = from->n, .count = from->count };
		w->wants++;
		if ((w->want[i].candidate = calloc(from->n + 1, sizeof(*h))) == NULL)
			return refuse_nomem(why);
		for (k = 0; k < from->n; k++) {
			h = &w->want[i].candidate[k];
			*h = (struct held_gpu){ .vendor = from->candidate[k]->vendor,
				.exclusive = from->rule->sharing == SHARING_EXCLUSIVE, .limit = from->rule->share_limit };
			snprintf(h->pci, sizeof(h->pci), "%s", from->candidate[k]->pci);
			/* from the inventory, because the candidates may be only some of a GPU's partitions */
			gpu_part(&d->inventory, from->candidate[k], h->part);
		}
	}
	return 0;
}

/*
 * All GPUs that are not free: first those that leases hold, then those open without a lease and drained ones, then
 * those reserved for earlier requests.
 */
struct holdings {
	const struct inventory *inv;
	struct holding *v;
	size_t n;
	struct held_gpu **kept;		/* the reserved GPUs, an array for each earlier request */
	size_t keepers;
};

static void
holdings_free(struct holdings *h)
{
	size_t i;

	for (i = 0; i < h->keepers; i++)
		free(h->kept[i]);
	free(h->kept);
	free(h->v);
}

/* True if the GPU, a part of it, or the GPU that it is a part of, is reserved already. */
static bool
is_kept(const struct held_gpu *kept, size_t n, const struct held_gpu *g)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (held_overlaps(&kept[i], g))
			return true;
	return false;
}

/*
 * Reserves further candidates, as many as the want lacks, even if other containers hold them now. Otherwise later
 * requests could take turns in holding them for ever.
 */
static size_t
close_rest(const struct pick_want *want, unsigned lacks, struct held_gpu *kept, size_t n, size_t max)
{
	size_t i;

	for (i = 0; i < want->candidates && lacks > 0 && n < max; i++) {
		if (is_kept(kept, n, &want->candidate[i]))
			continue;
		kept[n] = want->candidate[i];
		kept[n++].exclusive = true;
		lacks--;
	}
	return n;
}

/*
 * Reserves what this waiter would get now. With in_part, reserves GPUs even if the waiter would get too few, so that
 * smaller requests do not starve it. in_part is false if the request to be decided asks for the last time and its user
 * holds no GPU that an earlier request wants (has_one()). Otherwise a waiter that wants more than it can ever get would
 * starve everyone.
 */
static int
keep_for(const struct queued *w, bool in_part, struct holdings *h, size_t max, struct why *why)
{
	autofree struct pick *picks = calloc(max, sizeof(*picks));
	struct held_gpu *kept = calloc(2 * max, sizeof(*kept));
	size_t n = 0, picked = 0, i, k;
	bool in_full;
	unsigned has;

	if (picks == NULL || kept == NULL) {
		free(kept);
		return refuse_nomem(why);
	}
	in_full = pick_gpus(h->v, h->n, h->inv, w->want, w->wants, picks, max, &picked);
	for (n = 0; n < picked && (in_full || in_part); n++)
		kept[n] = w->want[picks[n].want].candidate[picks[n].candidate];
	for (i = 0; i < w->wants && !in_full && in_part; i++) {
		for (has = 0, k = 0; k < picked; k++)
			has += picks[k].want == i;
		n = close_rest(&w->want[i], w->want[i].count - has, kept, n, 2 * max);
	}
	h->kept[h->keepers++] = kept;
	h->v[h->n++] = (struct holding){ .gpu = kept, .gpus = n };
	return 0;
}

/* How many GPUs the policy's containers hold, except this waiter's. */
static unsigned
quota_used(const struct leases *ls, const struct queued *w)
{
	unsigned n = 0;
	size_t i;

	for (i = 0; i < ls->n; i++)
		if (strcmp(ls->v[i]->policy, w->policy) == 0 && strcmp(ls->v[i]->key, w->key) != 0)
			n += lease_only_promises(ls->v[i]) ? 0 : (unsigned)ls->v[i]->gpus;
	return n;
}

static unsigned
wanted(const struct queued *w)
{
	unsigned n = 0;
	size_t i;

	for (i = 0; i < w->wants; i++)
		n += w->want[i].count;
	return n;
}

bool
allot_in_quota(const struct leases *ls, const struct queued *w)
{
	return w->max_gpus == 0 || quota_used(ls, w) + wanted(w) <= w->max_gpus;
}

static int
check_quota(const struct leases *ls, const struct queued *w, struct why *why)
{
	if (w->max_gpus != 0 && wanted(w) > w->max_gpus)
		return refuse(why, WHY_DENIED, "%s: its containers hold at most %u GPUs at once (max_gpus), and this one asks for "
		    "%u", w->policy, w->max_gpus, wanted(w));
	if (allot_in_quota(ls, w))
		return 0;
	return refuse(why, WHY_AGAIN, "%s: its containers hold at most %u GPUs at once (max_gpus), and hold %u now", w->policy,
	    w->max_gpus, quota_used(ls, w));
}

static int
fill_holdings(const struct allot_state *s, size_t before, bool last, size_t max, struct holdings *h, struct why *why)
{
	const struct leases *ls = s->leases;
	size_t i;

	h->v = calloc(ls->n + s->unleased->n + s->drained->n + before + 1, sizeof(*h->v));
	h->kept = calloc(before + 1, sizeof(*h->kept));
	if (h->v == NULL || h->kept == NULL)
		return refuse_nomem(why);
	for (i = 0; i < ls->n; i++)
		h->v[h->n++] = lease_holding(ls->v[i]);
	for (i = 0; i < s->unleased->n; i++)
		h->v[h->n++] = (struct holding){ .gpu = &s->unleased->v[i].gpu, .gpus = 1 };
	for (i = 0; i < s->drained->n; i++)
		h->v[h->n++] = (struct holding){ .gpu = &s->drained->v[i].gpu, .gpus = 1 };
	for (i = 0; i < before; i++)
		/* one beyond its quota waits for its policy's other containers, not for a GPU: nothing is reserved */
		if (allot_in_quota(ls, &s->queue->v[i]) && keep_for(&s->queue->v[i], !last, h, max, why) == -1)
			return -1;
	return 0;
}

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
allot_extra(const struct driver_nodes *more, struct lease *l, struct why *why)
{
	size_t i;

	for (i = 0; i < more->n; i++)
		if (more->own[i] != NULL && give_nodes(l, &more->v[i], 1, why) == -1)
			return -1;
	return 0;
}

/* Adds the GPU and its own nodes to the lease. */
static int
give_gpu(struct lease *l, const struct held_gpu *h, const struct gpu *g, struct why *why)
{
	struct held_gpu *v = reallocarray(l->gpu, l->gpus + 1, sizeof(*v));

	if (v == NULL)
		return refuse_nomem(why);
	l->gpu = v;
	v[l->gpus++] = *h;
	return give_nodes(l, g->node, g->nodes, why);
}

int
allot_all(const struct decision *d, const struct queued *w, struct lease_tasks *p, struct allotted *out, size_t *n)
{
	size_t i, k;

	if ((p->promised_gpu = calloc(*n, sizeof(*p->promised_gpu))) == NULL)
		return -1;
	for (i = 0; i < w->wants; i++)
		for (k = 0; k < w->want[i].candidates; k++) {
			out[p->promised_gpus] = (struct allotted){ d->grant.gpu[i].candidate[k], d->grant.gpu[i].rule };
			p->promised_gpu[p->promised_gpus++] = w->want[i].candidate[k];
		}
	*n = p->promised_gpus;
	return 0;
}

/* 1: too few are free. */
static int
pick_and_take(const struct holdings *h, const struct grant *g, struct lease *l, const struct queued *w,
    struct allotted *out, size_t max, struct why *why)
{
	autofree struct pick *picks = calloc(max, sizeof(*picks));
	const struct gpu_want *from;
	size_t n = 0, i;
	int ret = 0;

	if (picks == NULL)
		return refuse_nomem(why);
	if (!pick_gpus(h->v, h->n, h->inv, w->want, w->wants, picks, max, &n))
		ret = n == max ? refuse(why, WHY_DENIED, "more than %zu GPUs for one container", max) : 1;
	for (i = 0; ret == 0 && i < n; i++) {
		from = &g->gpu[picks[i].want];
		out[i] = (struct allotted){ from->candidate[picks[i].candidate], from->rule };
		ret = give_gpu(l, &w->want[picks[i].want].candidate[picks[i].candidate], out[i].gpu, why);
	}
	return ret;
}

/* True if an earlier request wants one of this lease's GPUs. */
static bool
is_wanted_before(const struct queue *q, size_t before, const struct lease *l)
{
	const struct holding h = lease_holding(l);
	size_t i;

	for (i = 0; i < before; i++)
		if (pick_wants_any(q->v[i].want, q->v[i].wants, h.gpu, h.gpus))
			return true;
	return false;
}

/*
 * True if the same user already holds a GPU that an earlier request wants: such a user could get one GPU after another,
 * and starve a request for two. Root asks for everyone's containers, so for root the pipeline must be the same, too.
 */
static bool
has_one(const struct allot_state *s, size_t before, const struct lease *of)
{
	const struct lease *l;
	size_t i;

	for (i = 0; i < s->leases->n; i++) {
		l = s->leases->v[i];
		if (l->uid == of->uid && (l->uid != 0 || strcmp(l->pipeline, of->pipeline) == 0) &&
		    is_wanted_before(s->queue, before, l))
			return true;
	}
	return false;
}

/* Names the wanted GPUs that are out of service, and why they are. */
static int
refuse_drained(const struct drained *d, const struct queued *w, struct why *why)
{
	autobuf struct buf b = { 0 };
	unsigned told = 0;
	char since[32];
	size_t i;

	for (i = 0; i < d->n && told < 3; i++) {
		if (!pick_wants_any(w->want, w->wants, &d->v[i].gpu, 1))
			continue;
		text_time(d->v[i].since, since);
		buf_printf(&b, "%s%s%s%s is %s since %s%s%s", told++ > 0 ? ", " : "", d->v[i].gpu.pci,
		    d->v[i].gpu.part[0] != '\0' ? " part " : "", d->v[i].gpu.part, d->v[i].sick ? "sick" : "drained", since,
		    d->v[i].why[0] != '\0' ? ": " : "",
		    d->v[i].why);
	}
	return refuse(why, WHY_DENIED, "too few of the GPUs that this policy allows are in service (%s)",
	    b.p != NULL ? b.p : "no memory to say which");
}

/* Checks that there would be enough GPUs if nobody held any: if not, waiting is useless. -1 with *why. */
static int
check_in_service(const struct allot_state *s, const struct queued *w, size_t max, struct why *why)
{
	const struct inventory *inv = &s->decision->inventory;
	const struct drained *d = s->drained;
	autofree struct holding *h = calloc(d->n + 1, sizeof(*h));
	autofree struct pick *picks = calloc(max, sizeof(*picks));
	size_t i, n = 0;

	if (h == NULL || picks == NULL)
		return refuse_nomem(why);
	for (i = 0; i < d->n; i++)
		h[i] = (struct holding){ .gpu = &d->v[i].gpu, .gpus = 1 };
	return d->n == 0 || pick_gpus(h, d->n, inv, w->want, w->wants, picks, max, &n) || n == max ? 0 :
	    refuse_drained(d, w, why);
}

int
allot(const struct allot_state *s, struct lease *l, const struct queued *w, struct allotted *out, size_t max,
    struct why *why)
{
	const struct grant *g = &s->decision->grant;
	const size_t before = queue_before(s->queue, w);
	const bool last = g->wait > 0 && queue_waited(s->queue, w->key) >= g->wait && !has_one(s, before, l);
	struct holdings h = { .inv = &s->decision->inventory };
	int ret;

	if (check_in_service(s, w, max, why) == -1 || check_quota(s->leases, w, why) == -1)
		return -1;
	if ((ret = fill_holdings(s, before, last, max, &h, why)) == 0 &&
	    (ret = pick_and_take(&h, g, l, w, out, max, why)) == 1)
		ret = wait_refuse(s, w, l->uid, why);
	holdings_free(&h);
	return ret;
}

/* True if the lease holds a node that the container needs for this pick. */
static bool
holds_node_of(const struct lease *l, const struct allotted *pick)
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
has_some_of(const struct lease *l, const struct held_gpu *g)
{
	size_t i;

	for (i = 0; i < l->gpus; i++)
		if (held_overlaps(&l->gpu[i], g))
			return true;
	return false;
}

int
allot_check_nodes(const struct leases *ls, const struct lease *l, const struct allotted *picks, struct why *why)
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
