/*
 * See authz.h. gpuhelper-judge reads what the task's author wrote (token, claims, the names of GPUs and folders).
 * This file passes those texts on, and must not interpret them.
 */
#include "authz.h"

#include <stdlib.h>
#include <string.h>

#include "../child/engine.h"
#include "../child/host.h"
#include "../child/judge.h"
#include "../child/looker.h"
#include "../child/reader.h"
#include "../enter/owncgroup.h"

static int
find_identity(struct authz *r, struct why *why)
{
	const struct request *asked = r->call->request;

	if (asked->words.token != NULL)
		return judge_ask_token(asked->words.token, &r->settings, &r->origin, why);
	/* if the container asks for nothing, its BUILD_* variables claim nothing: only a policy for its caller covers it */
	if (r->asks_nothing) {
		r->origin.id.kind = IDENTITY_CALLER;
		return 0;
	}
	return identity_of_claims(asked, judge_ask_vars, &r->origin, why);
}

/* True if the request can lead to GPUs at all. The judge reads which ones it names. */
static bool
may_want_gpus(const struct request *r)
{
	return r->words.gpus != NULL ? strcmp(r->words.gpus, "none") != 0 : r->words.folders == NULL;
}

/* Gets everything that the decision depends on. */
static int
gather(struct authz *r, struct why *why)
{
	const struct request *asked = r->call->request;
	const struct peer *peer = r->call->peer;

	if (reader_ask_policies(&r->settings, &r->policies, why) == -1)
		return -1;
	/* a policy may allow it, but only to a pipeline that a token proves */
	if (asked->spec.privileged && r->settings.privileged == PRIVILEGED_DENY && asked->words.token == NULL)
		return refuse(why, WHY_DENIED, PRIVILEGED_DENIED);
	r->asks_nothing = asked->words.token == NULL && asked->words.gpus == NULL && asked->words.folders == NULL;
	if (r->asks_nothing && !r->settings.grant_unasked)
		return refuse(why, WHY_DENIED, "the container asks for nothing");
	/* amdkfd shows the GPUs that the device rules of the reader's cgroup allow: the caller must not choose these */
	if (leave_cgroup(peer->starter, why) == -1)
		return -1;
	reader_cache_policies();
	/* meanwhile the looker sets itself up, and gpuhelper-engine starts */
	looker_execute(true);
	if (may_want_gpus(asked))
		engine_execute();
	/* the judge reports the host's GPUs before it parses anything that a stranger wrote */
	host_ask_gpus(may_want_gpus(asked) ? policies_vendors(&r->policies, &peer->client) : 0);
	if (find_identity(r, why) == -1)
		return -1;
	r->identified = true;
	return 0;
}

int
authz_decide(struct authz *r, const struct request *asked, struct why *why)
{
	const struct client *who = &r->call->peer->client;
	const struct host *host = host_found();
	/* a worker that a workload manager restricts says so itself, and can only lose GPUs by that */
	const bool bound = r->settings.respect_allocation;
	const bool privileged = asked->spec.privileged && r->settings.privileged == PRIVILEGED_DENY;
	struct grant_ask a = { .who = *who, .origin = { .id = r->origin.id }, .gpus = asked->words.gpus,
		.folders = asked->words.folders, .privileged = privileged, .cuda_visible = bound ? asked->words.cuda_visible : NULL,
		.rocr_visible = bound ? asked->words.rocr_visible : NULL,
		.settings = r->settings, .files = (uint32_t)r->policies.n, .blind = host->why, .inventory = host->inventory };
	const struct verdict_bounds bounds = { who, &r->origin.id, &r->settings, &a.policies, &host->inventory, host->vendors,
		a.cuda_visible, a.rocr_visible, privileged };
	struct decision *d = &r->decision;
	struct verdict v = { .policy = 0 };
	int ret = policies_of(&r->policies, who, &a.policies) ? judge_ask_grant(&a, &v, why) : refuse_nomem(why);

	if (ret == 0 && (ret = verdict_accept(&v, &bounds, d, why)) == 0)
		d->policy = policy_of_name(&r->policies, d->policy->name);
	verdict_free(&v);
	free(a.policies.v);
	/* this is the only place that turns a verdict into a grant */
	return ret == 0 && d->verdict == VERDICT_GRANT ? 0 : -1;
}

int
authz_make(struct authz *r, struct why *why)
{
	if (gather(r, why) == -1)
		return -1;
	r->asked = true;
	return authz_decide(r, r->call->request, why);
}

void
authz_free(struct authz *r)
{
	decision_free(&r->decision);
	origin_free(&r->origin);
	policy_set_free(&r->policies);
	settings_free(&r->settings);
}
