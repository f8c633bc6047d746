/* See answering.h. */
#include "answering.h"

#include <stdlib.h>
#include <string.h>

#include "../gpu/extranode.h"
#include "../gpu/procmask.h"
#include "../gpu/vendorenv.h"
#include "../host/driver/drivernodes.h"
#include "pickfor.h"

/* A policy may list words for hosts of several kinds: one that finds no node here is told, but not refused. */
static bool
note_idle_words(const struct driver_question *q, const struct driver_nodes *found, struct edits *out)
{
	unsigned idle = 0, bit;
	bool whole = true;
	size_t i;

	for (i = 0; i < q->wants; i++)
		idle |= q->want[i].rule->nodes & ~found->words;
	for (bit = 1; bit <= idle && whole; bit <<= 1)
		if ((idle & bit) != 0)
			whole = edits_add_note(out, "the policy says nodes = [ \"%s\" ], and no usable CDI spec here has "
			    "such a node", extra_word_name(bit));
	return whole;
}

/* Tells a vendor's runtime, which runs after the wrapper, what was granted, so that it adds no more. */
static int
add_vendor_env(const struct driver_question *q, struct edits *out, struct why *why)
{
	struct vendor_grant granted[ENGINE_WANTS_MAX];
	size_t i;

	for (i = 0; i < q->wants; i++)
		granted[i] = (struct vendor_grant){ q->want[i].gpu, q->want[i].rule->capabilities };
	return q->settings->driver_files != DRIVER_FILES_VENDOR_RUNTIME ? 0 :
	    vendor_env(q->inventory, granted, q->wants, &out->env, why);
}

/* Hides the NVIDIA GPUs that are not granted: a container's /proc shows all GPUs of the host. */
static int
mask_others(const struct driver_question *q, struct edits *out, struct why *why)
{
	const struct gpu *granted[ENGINE_WANTS_MAX];
	size_t i;

	for (i = 0; i < q->wants; i++)
		granted[i] = q->want[i].gpu;
	return procmask_others(q->inventory, granted, q->wants, &out->masked) ? 0 : refuse_nomem(why);
}

static int
answer_nodes(const struct driver_question *q, struct driver_nodes *found, struct engine_answer *out)
{
	if (driver_nodes(q, found, &out->why) == -1)
		return -1;
	if ((out->node = calloc(found->n + 1, sizeof(*out->node))) == NULL)
		return refuse_nomem(&out->why);
	memcpy(out->node, found->v, found->n * sizeof(*out->node));
	out->nodes = found->n;
	return 0;
}

static int
answer_edits(const struct driver_question *q, struct engine_answer *out)
{
	struct driver_nodes found = { .n = 0 };

	if (driver_files(q, &out->edits, &out->specs, &out->why) == -1 || answer_nodes(q, &found, out) == -1 ||
	    add_vendor_env(q, &out->edits, &out->why) == -1 || mask_others(q, &out->edits, &out->why) == -1)
		return -1;
	return note_idle_words(q, &found, &out->edits) ? 0 : refuse_nomem(&out->why);
}

/* The decision has a copy of the inventory, with the GPUs of some vendors. */
static int
answer_about(const struct authorized *r, const struct host *h, enum engine_verb verb, const struct engine_want *v,
    size_t n, struct engine_answer *out)
{
	const struct decision *d = &r->decision;
	struct driver_want want[ENGINE_WANTS_MAX];
	const struct driver_question q = { &h->specs, &h->inventory, &r->settings, want, n };
	struct driver_nodes nodes = { .n = 0 };
	const struct gpu *g;
	size_t i;

	for (i = 0; i < n; i++) {
		g = v[i].gpu < d->inventory.gpus ? inventory_find(&h->inventory, &d->inventory.gpu[v[i].gpu]) : NULL;
		if (g == NULL || d->policy == NULL || v[i].rule >= d->policy->gpus)
			return refuse(&out->why, WHY_BUG, "gpuhelper-engine is asked about a GPU that it did not grant");
		want[i] = (struct driver_want){ g, &d->policy->gpu[v[i].rule] };
	}
	return verb == ENGINE_EDITS ? answer_edits(&q, out) : answer_nodes(&q, &nodes, out);
}

/* The GPUs that were picked, and their rules. */
static int
answer_picked(const struct authorized *r, const struct host *h, const struct engine_ask *a, struct engine_answer *out)
{
	const struct pick *p = out->pick.v;
	struct engine_want v[GPUS_MAX];
	size_t i;

	_Static_assert(GPUS_MAX <= ENGINE_WANTS_MAX, "all picks can be asked about");
	for (i = 0; i < out->pick.n; i++)
		v[i] = (struct engine_want){ a->pick.from[p[i].want].gpu[p[i].candidate],
			(uint32_t)(r->decision.grant.gpu[p[i].want].rule - r->decision.policy->gpu) };
	return answer_about(r, h, a->verb, v, out->pick.n, out);
}

int
answer_wants(const struct authorized *r, const struct host *h, const struct engine_ask *a, struct engine_answer *out)
{
	if (!a->picks)
		return answer_about(r, h, a->verb, a->want, a->wants, out);
	return pick_for_request(r, &a->pick, &out->pick, &out->why) == -1 ? -1 : answer_picked(r, h, a, out);
}
