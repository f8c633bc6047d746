/*
 * See authorize.h. gpuhelper-judge reads what the task's author wrote (token, claims, the names of GPUs and folders).
 * This file passes those texts on, and must not interpret them.
 */
#include "authorize.h"

#include <stdlib.h>
#include <string.h>

#include "../host/own/exchange.h"
#include "../host/own/exchangeread.h"
#include "../policy/policydecide.h"
#include "attribute.h"
#include "tojudge.h"

static int
read_policies(struct authorized *r, const char *read, size_t len, struct authz_answer *out)
{
	struct exchange x = { .answer = (char *)(uintptr_t)read, .len = len };
	bool malformed = false;
	size_t i;

	if (exchange_read_policies(&x, &r->settings, &r->policies, &malformed, &out->why) == -1) {
		out->policies = malformed ? ANSWER_MALFORMED : ANSWER_UNREAD;
		return -1;
	}
	out->policies = ANSWER_FIT;
	/* a policy may also be broken because memory was short */
	for (i = 0; i < r->policies.n; i++)
		if (r->policies.v[i].broken != NULL)
			out->policies = ANSWER_UNFIT;
	return 0;
}

/* Checks what needs no identity. */
static int
check_request(const struct authorized *r, const struct authz_query *a, struct authz_answer *out)
{
	/* a policy may allow it, but only to a pipeline that a token proves */
	if (a->privileged && r->settings.privileged == PRIVILEGED_DENY && a->untrusted.token == NULL)
		return refuse(&out->why, WHY_DENIED, PRIVILEGED_DENIED);
	if (authz_asks_nothing(&a->untrusted, a->packed_attribution) && !r->settings.grant_unasked)
		return refuse(&out->why, WHY_DENIED, "the container asks for nothing");
	return 0;
}

static int
find_identity(struct authorized *r, const struct authz_query *a, struct authz_answer *out)
{
	if (a->packed_attribution != NULL)
		return principal_of_lease(a->packed_attribution, &r->principal) ? 0 :
		    refuse(&out->why, WHY_DENIED, "the container's lease does not name its pipeline");
	if (a->untrusted.token != NULL)
		return tojudge_token(a, &r->settings, &r->principal, &out->issuer, &out->why);
	/* if the container asks for nothing, its BUILD_* variables claim nothing: only a policy for its caller covers it */
	if (authz_asks_nothing(&a->untrusted, a->packed_attribution)) {
		r->principal.id.kind = IDENTITY_CALLER;
		return 0;
	}
	return identity_of_claims(&a->untrusted, tojudge_vars, &r->principal, &out->why);
}

/* True if the request can lead to GPUs at all. The judge reads which ones it names. */
static bool
may_want_gpus(const struct authz_query *a)
{
	return a->packed_attribution != NULL ||
	    (a->untrusted.gpus != NULL ? strcmp(a->untrusted.gpus, "none") != 0 : a->untrusted.folders == NULL);
}

static int
decide(struct authorized *r, const struct host *h, const struct authz_query *a, struct authz_answer *out)
{
	/* the wrapper says which GPUs a workload manager leaves the worker; by that, a request can only lose GPUs */
	const bool bound = r->settings.respect_allocation;
	const bool privileged = a->privileged && r->settings.privileged == PRIVILEGED_DENY;
	struct grant_query q = { .who = a->who, .principal = { .id = r->principal.id }, .gpus = a->untrusted.gpus,
		.folders = a->untrusted.folders, .privileged = privileged, .cuda_visible = bound ? a->untrusted.cuda_visible : NULL,
		.rocr_visible = bound ? a->untrusted.rocr_visible : NULL,
		.settings = r->settings, .files = (uint32_t)r->policies.n, .gpus_unknown = h->why,
		.inventory = h->inventory };
	const struct judge_bounds bounds = { &a->who, &r->principal.id, &r->settings, &q.policies, &h->inventory, h->vendors,
		q.cuda_visible, q.rocr_visible, privileged };
	struct decision *d = &r->decision;
	struct decision_indexes *v = &r->indexes;
	int ret = policies_of(&r->policies, &a->who, &q.policies) ? tojudge_grant(&q, v, &out->why) :
	    refuse_nomem(&out->why);

	if (ret == 0 && (ret = indexes_take(v, &bounds, d, &out->why)) == 0)
		d->policy = policy_of_name(&r->policies, d->policy->name);
	free(q.policies.v);
	/* this is the only place that turns its decision into a grant */
	return ret == 0 && d->verdict == VERDICT_GRANT ? 0 : -1;
}

/* The folders that the policies give for writing, for a container whose folders nobody can check later. */
static int
list_writers(const struct policy_set *all, struct policy_set *out, struct why *why)
{
	const struct policy *p;
	struct policy *to;
	size_t i, k;

	if ((out->v = calloc(all->n + 1, sizeof(*out->v))) == NULL)
		return refuse_nomem(why);
	for (i = 0; i < all->n; i++) {
		p = &all->v[i].policy;
		to = &out->v[out->n].policy;
		out->v[out->n++] = (struct policy_entry){ .policy = { .name = p->name }, .broken = all->v[i].broken };
		if ((to->folder = calloc(p->folders + 1, sizeof(*to->folder))) == NULL)
			return refuse_nomem(why);
		for (k = 0; k < p->folders; k++)
			if (p->folder[k].writable)
				to->folder[to->folders++] = p->folder[k];
	}
	return 0;
}

static int
decide_all(struct authorized *r, struct host *h, const struct authz_query *a, struct authz_answer *out)
{
	if (check_request(r, a, out) == -1)
		return -1;
	/* the judge reports the host's GPUs before it parses anything that a stranger wrote */
	host_ask_gpus(h, may_want_gpus(a) ? policies_vendors(&r->policies, &a->who) : 0);
	out->specs = h->read;
	out->searched = h->vendors != 0;
	if (find_identity(r, a, out) == -1)
		return -1;
	out->identified = out->judged = true;
	if (decide(r, h, a, out) == -1)
		return -1;
	return a->is_run && r->decision.grant.folders > 0 ? list_writers(&r->policies, &out->writers, &out->why) : 0;
}

static void
forget(struct authorized *r)
{
	decision_indexes_free(&r->indexes);
	decision_free(&r->decision);
	principal_free(&r->principal);
	attribution_free(&r->whose);
	policy_set_free(&r->policies);
	settings_free(&r->settings);
	*r = (struct authorized){ .decision = { .policy = NULL } };
}

void
authorize(struct authorized *r, struct host *h, const struct authz_query *a, const char *read, size_t len,
    struct authz_answer *out)
{
	const struct decision *d = &r->decision;

	forget(r);
	if (read_policies(r, read, len, out) == 0 && decide_all(r, h, a, out) == 0) {
		out->why = (struct why){ 0 };
		out->policy = *d->policy;
		out->grant = d->grant;
		out->folder = r->indexes.folder;
		out->folders = r->indexes.folders;
	}
	out->has_token = out->identified && r->principal.issuer != NULL;
	if (!attribute(&r->principal, &r->whose))
		(void)refuse_nomem(&out->why);
	out->whose = r->whose;
}
