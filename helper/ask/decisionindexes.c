/* See decisionindexes.h. */
#include "decisionindexes.h"

#include <stdlib.h>

#include "../gpu/gpubound.h"
#include "../gpu/gpufind.h"
#include "../policy/policydecide.h"

static void
gpus_fields(struct lines *t, void *member)
{
	struct gpu_indexes *g = member;
	uint32_t n = (uint32_t)g->n, i;

	field_u32(t, &g->rule);
	field_u32(t, &g->count);
	field_u32(t, &n);
	if (n > CANDIDATES_MAX) {
		t->failed = true;
		return;
	}
	for (i = 0; i < n; i++)
		field_u32(t, &g->candidate[i]);
	g->n = n;
}

void
decision_indexes_lines(struct lines *t, struct decision_indexes *v)
{
	lines_begin(t, "verdict");
	field_u32(t, &v->policy);
	lines_members(t, "gpus", (void **)&v->gpus, &v->grants, GRANT_DEMANDS_MAX, sizeof(*v->gpus), gpus_fields);
	lines_members(t, "folder", (void **)&v->folder, &v->folders, FOLDER_RULES_MAX, sizeof(*v->folder),
	    granted_folder_fields);
}

void
decision_indexes_free(struct decision_indexes *v)
{
	granted_folders_free(v->folder, v->folders);
	free(v->gpus);
	*v = (struct decision_indexes){ .policy = 0 };
}

static int
refuse_indexes(struct why *why, const char *what)
{
	return refuse(why, WHY_BUG, "gpuhelper-judge sent an invalid verdict: %s", what);
}

/* The policy at this index; NULL with *why if it can't decide. A broken one would have ended the search. */
static const struct policy *
take_policy(uint32_t at, const struct judge_bounds *b, struct why *why)
{
	const struct policy *p;
	struct why differs;
	uint32_t i;

	for (i = 0; i < b->policies->n && i <= at; i++)
		if (b->policies->v[i].broken != NULL) {
			(void)refuse_indexes(why, "it passes over a broken policy");
			return NULL;
		}
	if (at >= b->policies->n) {
		(void)refuse_indexes(why, "no such policy");
		return NULL;
	}
	p = &b->policies->v[at].policy;
	if (policy_lists(p, b->who, &differs) && policy_takes(p, b->id, b->settings, &differs) &&
	    (!b->privileged || policy_lets_privileged(p, &differs)))
		return p;
	(void)refuse_indexes(why, differs.text);
	return NULL;
}

static bool
is_named_before(const struct gpu_indexes *g, size_t at)
{
	size_t i = 0;

	while (g->candidate[i] != g->candidate[at])
		i++;
	return i < at;
}

static int
apply_gpus(const struct gpu_indexes *g, const struct gpu_bound *bound, const struct giving *t)
{
	const struct gpu *candidate[CANDIDATES_MAX];
	const struct gpu_rule *r;
	size_t i;

	if (g->rule >= t->policy->gpus)
		return refuse_indexes(t->why, "GPUs by a rule that does not exist");
	r = &t->policy->gpu[g->rule];
	if (g->count == 0 || g->count > g->n || g->count > r->count - give_used(t, r))
		return refuse_indexes(t->why, "more or fewer GPUs than the rule gives");
	for (i = 0; i < g->n; i++) {
		if (g->candidate[i] >= t->inv->gpus || is_named_before(g, i))
			return refuse_indexes(t->why, "a GPU that does not exist, or one twice");
		candidate[i] = &t->inv->gpu[g->candidate[i]];
		if (!gpu_rule_gives(r, candidate[i], t->settings) || !gpu_is_within(bound, candidate[i]))
			return refuse_indexes(t->why, "a GPU that the rule does not give, or that is outside the worker's bound");
	}
	return give_gpus(t, r, g->count, candidate, g->n);
}

/* Applies the decision within what the policy can give. */
static int
apply_indexes(const struct decision_indexes *v, const struct gpu_bound *bound, const struct giving *t)
{
	size_t i;

	for (i = 0; i < v->grants; i++)
		if (apply_gpus(&v->gpus[i], bound, t) == -1)
			return -1;
	for (i = 0; i < v->folders; i++)
		if (granted_folder_give(&v->folder[i], "gpuhelper-judge", t) == -1)
			return -1;
	return 0;
}

/* Gets the part of the host that the policy concerns. */
static int
take_host(const struct policy *p, const struct judge_bounds *b, struct inventory *out, struct why *why)
{
	const unsigned vendors = policy_vendors(p);

	return (vendors & ~b->vendors) != 0 ? refuse_indexes(why, "GPUs of a vendor that was not looked for") :
	    inventory_copy(b->inventory, vendors, out, why);
}

int
indexes_take(const struct decision_indexes *v, const struct judge_bounds *b, struct decision *out, struct why *why)
{
	struct gpu_bound bound[GPU_VENDORS] = { { .set = false } };
	const struct policy *p;
	int ret;

	*out = (struct decision){ .verdict = VERDICT_OTHER };
	if ((p = take_policy(v->policy, b, why)) == NULL || (v->grants > 0 && take_host(p, b, &out->inventory, why) == -1))
		return -1;
	ret = gpu_bounds_parse(b->cuda_visible, b->rocr_visible, bound, why) == -1 ? -1 :
	    apply_indexes(v, bound, &(struct giving){ p, b->who, &out->inventory, b->settings, &out->grant, why });
	gpu_bounds_free(bound);
	if (ret == -1)
		return -1;
	out->policy = p;
	out->verdict = VERDICT_GRANT;
	return 0;
}
