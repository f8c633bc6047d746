/* See decision.h.  Copies the words of a task's author, and looks into none. */
#include "decision.h"

#include <stdlib.h>

#include "host.h"
#include "judge.h"

int
decision_reach(struct work *w, const struct request *r)
{
	const struct asker *who = &w->peer->asker;
	const struct host *host = host_seen();
	/* the worker's own word, which can only take away */
	const bool bound = w->settings.respect_allocation;
	struct grant_ask a = { .who = *who, .known = { .id = w->known.id }, .gpus = r->gpus, .folders = r->folders,
		.cuda_visible = bound ? r->cuda_visible : NULL, .rocr_visible = bound ? r->rocr_visible : NULL,
		.settings = w->settings, .files = (uint32_t)w->policies.n, .blind = host->why, .inventory = host->inventory };
	const struct verdict_bounds bounds = { who, &w->known.id, &w->settings, &a.policies, &host->inventory, host->vendors,
		a.cuda_visible, a.rocr_visible };
	struct verdict v = { .policy = 0 };
	int ret = policies_of(&w->policies, who, &a.policies) ? judge_decides(&a, &v, &w->why) : refuse_nomem(&w->why);

	if (ret == 0 && (ret = verdict_take(&v, &bounds, &w->decision, &w->why)) == 0)
		w->decision.policy = policy_of_name(&w->policies, w->decision.policy->name);
	verdict_free(&v);
	free(a.policies.v);
	return ret;
}
