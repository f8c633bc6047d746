/* See pickfor.h. */
#include "pickfor.h"

#include <stdlib.h>
#include <string.h>

#include "../base/cleanup.h"
#include "allot.h"

/* The decision with the candidates that are left: a task's are those that its container was promised. */
static int
narrow(const struct decision *d, const struct pick_ask *a, struct decision *out, struct why *why)
{
	struct gpu_want *w;
	size_t i, k;

	*out = *d;
	if (a->wants != d->grant.gpus)
		return refuse(why, WHY_BUG, "gpuhelper-engine is asked about another grant");
	if ((out->grant.gpu = calloc(a->wants + 1, sizeof(*w))) == NULL)
		return refuse_nomem(why);
	for (i = 0; i < a->wants; i++) {
		w = &out->grant.gpu[i];
		*w = (struct gpu_want){ .rule = d->grant.gpu[i].rule, .count = d->grant.gpu[i].count, .n = a->from[i].n };
		for (k = 0; k < w->n; k++) {
			if (a->from[i].gpu[k] >= d->inventory.gpus)
				return refuse(why, WHY_BUG, "gpuhelper-engine is asked about a GPU that it did not grant");
			w->candidate[k] = &d->inventory.gpu[a->from[i].gpu[k]];
		}
	}
	return 0;
}

static int
read_drained(const char *text, struct drained *out, struct why *why)
{
	struct why bad;

	if (text == NULL || drained_decode(text, strlen(text), out, &bad) == 0)
		return 0;
	return drained_refuse(&bad, why);
}

static int
pick(struct allot_state *s, struct pick_answer *out, struct why *why)
{
	if ((out->v = calloc(GPUS_MAX, sizeof(*out->v))) == NULL)
		return refuse_nomem(why);
	out->in_quota = allot_in_quota(s);
	if (allot(s, out->v, &out->n, why) == -1) {
		out->n = 0;
		return -1;
	}
	out->picked = true;
	return 0;
}

int
pick_for_request(const struct authorized *r, const struct pick_ask *a, struct pick_answer *out, struct why *why)
{
	struct decision d = { .policy = NULL };
	autodrained struct drained drained = { 0 };
	struct pick_want *want = NULL;
	size_t wants = 0, i;
	int ret = -1;

	if (narrow(&r->decision, a, &d, why) == 0 && read_drained(a->drained, &drained, why) == 0 &&
	    grant_wants(&d, &want, &wants, why) == 0)
		ret = pick(&(struct allot_state){ a, &d, want, wants, &drained, &r->origin.id }, out, why);
	for (i = 0; i < wants; i++)
		free(want[i].candidate);
	free(want);
	if (d.grant.gpu != r->decision.grant.gpu)
		free(d.grant.gpu);
	return ret;
}
