/* See allocate.h. Touches no file: gives gpu/pick.c what the helper has read. */
#include "allocate.h"

#include <stdlib.h>
#include <string.h>

#include "../base/cleanup.h"
#include "../gpu/pickgpus.h"
#include "gpuholders.h"

/*
 * All GPUs that are not free: first those that leases hold, then those open without a lease and drained ones, then
 * those reserved for earlier requests.
 */
struct holdings {
	const struct inventory *inv;
	struct holding *v;
	size_t n;
	struct leased_gpu **reserved;		/* the reserved GPUs, an array for each earlier request */
	size_t reservers;
};

static void
holdings_free(struct holdings *h)
{
	size_t i;

	for (i = 0; i < h->reservers; i++)
		free(h->reserved[i]);
	free(h->reserved);
	free(h->v);
}

/* True if the GPU, a part of it, or the GPU that it is a part of, is reserved already. */
static bool
is_reserved(const struct leased_gpu *reserved, size_t n, const struct leased_gpu *g)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (leased_gpus_overlap(&reserved[i], g))
			return true;
	return false;
}

/*
 * Reserves further candidates, as many as the demand lacks, even if other containers hold them now. Otherwise later
 * requests could take turns in holding them for ever.
 */
static size_t
reserve_rest(const struct gpu_demand *demand, unsigned lacks, struct leased_gpu *reserved, size_t n, size_t max)
{
	size_t i;

	for (i = 0; i < demand->candidates && lacks > 0 && n < max; i++) {
		if (is_reserved(reserved, n, &demand->candidate[i]))
			continue;
		reserved[n] = demand->candidate[i];
		reserved[n++].exclusive = true;
		lacks--;
	}
	return n;
}

/*
 * Reserves what this request would get now. With in_part, reserves GPUs even if it would get too few, so that
 * smaller requests do not starve it. in_part is false on the last try of the request being decided, because an earlier
 * one that demands more than it can ever get would starve everyone; but not if the user of the one being decided
 * has_one().
 */
static int
reserve_for(const struct earlier *w, bool in_part, struct holdings *h, size_t max, struct why *why)
{
	autofree struct pick *picks = calloc(max, sizeof(*picks));
	struct leased_gpu *reserved = calloc(2 * max, sizeof(*reserved));
	size_t n = 0, picked = 0, i, k;
	bool in_full;
	unsigned has;

	if (picks == NULL || reserved == NULL) {
		free(reserved);
		return refuse_nomem(why);
	}
	in_full = pick_gpus(h->v, h->n, h->inv, w->demand, w->demands, picks, max, &picked);
	for (n = 0; n < picked && (in_full || in_part); n++)
		reserved[n] = w->demand[picks[n].demand].candidate[picks[n].candidate];
	for (i = 0; i < w->demands && !in_full && in_part; i++) {
		for (has = 0, k = 0; k < picked; k++)
			has += picks[k].demand == i;
		n = reserve_rest(&w->demand[i], w->demand[i].count - has, reserved, n, 2 * max);
	}
	h->reserved[h->reservers++] = reserved;
	h->v[h->n++] = (struct holding){ .gpu = reserved, .gpus = n };
	return 0;
}

/* How many GPUs the policy's containers hold, except the one with this key. */
static unsigned
quota_used(const struct pick_query *a, const char *policy, const char *key)
{
	unsigned n = 0;
	size_t i;

	for (i = 0; i < a->holders; i++)
		if (strcmp(a->holder[i].policy, policy) == 0 && strcmp(a->holder[i].key, key) != 0)
			n += a->holder[i].counts;
	return n;
}

static unsigned
wanted(const struct gpu_demand *demand, size_t demands)
{
	unsigned n = 0;
	size_t i;

	for (i = 0; i < demands; i++)
		n += demand[i].count;
	return n;
}

bool
allocation_in_quota(const struct allocation *s)
{
	const struct policy *p = s->decision->policy;

	return p->max_gpus == 0 || quota_used(s->ask, p->name, s->ask->key) +
	    wanted(s->demand, s->demands) <= p->max_gpus;
}

/* The same for an earlier request. */
static bool
is_in_quota(const struct allocation *s, const struct earlier *e)
{
	return e->max_gpus == 0 || quota_used(s->ask, e->policy, e->key) + wanted(e->demand, e->demands) <= e->max_gpus;
}

static int
check_quota(const struct allocation *s, struct why *why)
{
	const struct policy *p = s->decision->policy;
	const unsigned n = wanted(s->demand, s->demands);

	if (p->max_gpus != 0 && n > p->max_gpus)
		return refuse(why, WHY_DENIED, "%s: its containers hold at most %u GPUs at once (max_gpus), and this one asks for "
		    "%u", p->name, p->max_gpus, n);
	if (allocation_in_quota(s))
		return 0;
	return refuse(why, WHY_AGAIN, "%s: its containers hold at most %u GPUs at once (max_gpus), and hold %u now", p->name,
	    p->max_gpus, quota_used(s->ask, p->name, s->ask->key));
}

static int
fill_holdings(const struct allocation *s, bool last, struct holdings *h, struct why *why)
{
	const struct pick_query *a = s->ask;
	size_t i;

	h->v = calloc(a->holders + a->openers.n + s->drained->n + a->before + 1, sizeof(*h->v));
	h->reserved = calloc(a->before + 1, sizeof(*h->reserved));
	if (h->v == NULL || h->reserved == NULL)
		return refuse_nomem(why);
	for (i = 0; i < a->holders; i++)
		h->v[h->n++] = (struct holding){ a->holder[i].gpu, a->holder[i].gpus };
	for (i = 0; i < a->openers.n; i++)
		h->v[h->n++] = (struct holding){ .gpu = &a->openers.v[i].gpu, .gpus = 1 };
	for (i = 0; i < s->drained->n; i++)
		h->v[h->n++] = (struct holding){ .gpu = &s->drained->v[i].gpu, .gpus = 1 };
	for (i = 0; i < a->before; i++)
		/* one beyond its quota waits for its policy's other containers, not for a GPU: nothing is reserved */
		if (is_in_quota(s, &a->earlier[i]) && reserve_for(&a->earlier[i], !last, h, GPUS_MAX, why) == -1)
			return -1;
	return 0;
}

/* True if an earlier request wants one of the holder's GPUs. */
static bool
is_wanted_before(const struct pick_query *a, const struct holder *h)
{
	size_t i;

	for (i = 0; i < a->before; i++)
		if (gpu_demands_any(a->earlier[i].demand, a->earlier[i].demands, h->gpu, h->gpus))
			return true;
	return false;
}

/*
 * True if the same user already holds a GPU that an earlier request wants: such a user could get one GPU after another,
 * and starve a request for two. Root asks for everyone's containers, so for root the pipeline must be the same, too.
 */
static bool
has_one(const struct pick_query *a)
{
	const struct holder *h;
	size_t i;

	for (i = 0; i < a->holders; i++) {
		h = &a->holder[i];
		if (h->uid == a->uid && (h->uid != 0 || strcmp(h->pipeline, a->pipeline) == 0) && is_wanted_before(a, h))
			return true;
	}
	return false;
}

/* Names the wanted GPUs that are out of service, and why they are. */
static int
refuse_drained(const struct allocation *s, struct why *why)
{
	const struct drained *d = s->drained;
	autobuf struct buf b = { 0 };
	unsigned told = 0;
	char since[32];
	size_t i;

	for (i = 0; i < d->n && told < 3; i++) {
		if (!gpu_demands_any(s->demand, s->demands, &d->v[i].gpu, 1))
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
check_in_service(const struct allocation *s, struct why *why)
{
	const struct inventory *inv = &s->decision->inventory;
	const struct drained *d = s->drained;
	autofree struct holding *h = calloc(d->n + 1, sizeof(*h));
	struct pick picks[GPUS_MAX];
	size_t i, n = 0;

	if (h == NULL)
		return refuse_nomem(why);
	for (i = 0; i < d->n; i++)
		h[i] = (struct holding){ .gpu = &d->v[i].gpu, .gpus = 1 };
	return d->n == 0 || pick_gpus(h, d->n, inv, s->demand, s->demands, picks, GPUS_MAX, &n) || n == GPUS_MAX ? 0 :
	    refuse_drained(s, why);
}

int
allocate_gpus(const struct allocation *s, struct pick picks[GPUS_MAX], size_t *n, struct why *why)
{
	const struct pick_query *a = s->ask;
	const unsigned wait = s->decision->grant.wait;
	const bool last = wait > 0 && a->waited >= wait && !has_one(a);
	struct holdings h = { .inv = &s->decision->inventory };
	int ret;

	*n = 0;
	if (check_in_service(s, why) == -1 || check_quota(s, why) == -1)
		return -1;
	if ((ret = fill_holdings(s, last, &h, why)) == 0 &&
	    !pick_gpus(h.v, h.n, h.inv, s->demand, s->demands, picks, GPUS_MAX, n))
		ret = *n == GPUS_MAX ? refuse(why, WHY_DENIED, "more than %d GPUs for one container", GPUS_MAX) :
		    wait_refuse(s, why);
	holdings_free(&h);
	return ret;
}
