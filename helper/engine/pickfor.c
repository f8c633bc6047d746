/* See pickfor.h. */
#include "pickfor.h"

#include <stdlib.h>
#include <string.h>

#include "../base/cleanup.h"
#include "allocate.h"

/* The decision with the candidates that are left: a task's are those that its container was promised. */
static int
narrow(const struct decision *d, const struct pick_query *a, struct decision *out, struct why *why)
{
	struct gpu_grant *w;
	size_t i, k;

	*out = *d;
	if (a->demands != d->grant.gpus)
		return refuse(why, WHY_BUG, "gpuhelper-engine is asked about another grant");
	if ((out->grant.gpu = calloc(a->demands + 1, sizeof(*w))) == NULL)
		return refuse_nomem(why);
	for (i = 0; i < a->demands; i++) {
		w = &out->grant.gpu[i];
		*w = (struct gpu_grant){ .rule = d->grant.gpu[i].rule, .count = d->grant.gpu[i].count, .n = a->from[i].n };
		for (k = 0; k < w->n; k++) {
			if ((w->candidate[k] = host_gpu_at(&d->inventory, a->from[i].gpu[k])) == NULL)
				return refuse(why, WHY_BUG, "gpuhelper-engine is asked about a GPU that it did not grant");
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
pick(struct allocation *s, struct pick_answer *out, struct why *why)
{
	if ((out->v = calloc(GPUS_MAX, sizeof(*out->v))) == NULL)
		return refuse_nomem(why);
	out->in_quota = allocation_in_quota(s);
	if (allocate_gpus(s, out->v, &out->n, why) == -1) {
		out->n = 0;
		return -1;
	}
	out->picked = true;
	return 0;
}

int
pick_for_request(const struct authorized *r, const struct pick_query *a, struct pick_answer *out, struct why *why)
{
	struct decision d = { .policy = NULL };
	autodrained struct drained drained = { 0 };
	struct gpu_demand *demand = NULL;
	size_t demands = 0, i;
	int ret = -1;

	if (narrow(&r->decision, a, &d, why) == 0 && read_drained(a->drained, &drained, why) == 0 &&
	    grant_demands(&d, &demand, &demands, why) == 0)
		ret = pick(&(struct allocation){ a, &d, demand, demands, &drained, &r->principal.id }, out, why);
	for (i = 0; i < demands; i++)
		free(demand[i].candidate);
	free(demand);
	if (d.grant.gpu != r->decision.grant.gpu)
		free(d.grant.gpu);
	return ret;
}
