/* See authzquery.h: the check of an answer. gpuhelper-engine may be taken over. */
#include <string.h>

#include "../base/text.h"
#include "authzquery.h"
#include "parsedcheck.h"

#define PROGRAM "gpuhelper-engine"

static int
refuse_answer(const char *what, struct why *why)
{
	return refuse(why, WHY_BUG, PROGRAM " sent an invalid answer: %s", what);
}

static bool
is_text(const char *text)
{
	return text == NULL || text_is_utf8(text, strlen(text));
}

/* Texts that go into the reply or into a record. */
static bool
has_texts(const struct policy *p)
{
	size_t i;

	for (i = 0; i < p->folders; i++)
		if (!is_text(p->folder[i].path) || !is_text(p->folder[i].target))
			return false;
	return *p->name != '\0' && is_text(p->name) && strlist_is_utf8(&p->env);
}

/* A pipeline that is proven by a token has a valid one, from this request; or its container's lease remembers it. */
static bool
has_proof(const struct authz_answer *a, const struct authz_query *asked, const struct settings *s)
{
	const struct attribution *w = &a->whose;

	if (!a->has_token)
		return w->kind != IDENTITY_TOKEN || asked->packed_attribution != NULL;
	return w->kind == IDENTITY_TOKEN && w->team != NULL && w->pipeline != NULL && asked->untrusted.token != NULL &&
	    a->issuer < s->issuers && w->exp > asked->now - TOKEN_LEEWAY && strlen(w->once) == HASH_SIZE - 1;
}

/* Without a device cgroup (rootless) nothing holds a GPU to one container, and /dev/kfd gives all of AMD's GPUs. */
static bool
can_be_held(const struct gpu_grant *w, const struct inventory *inv)
{
	size_t i, amd = 0;

	for (i = 0; i < inv->gpus; i++)
		amd += inv->gpu[i].vendor == GPU_AMD;
	if (w->rule->sharing == SHARING_EXCLUSIVE)
		return false;
	for (i = 0; i < w->n; i++)
		if (w->candidate[i]->vendor == GPU_AMD && w->count < amd)
			return false;
	return true;
}

static int
check_want(const struct authz_answer *a, size_t at, const struct authz_query *asked, const struct settings *s,
    struct why *why)
{
	const struct gpu_grant *w = &a->grant.gpu[at];
	size_t i, given = 0;

	for (i = 0; i <= at; i++)
		given += a->grant.gpu[i].rule == w->rule ? a->grant.gpu[i].count : 0;
	if (w->count == 0 || given > w->rule->count)
		return refuse_answer("more or fewer GPUs than the rule gives", why);
	for (i = 0; i < w->n; i++)
		if (w->candidate[i]->unusable[0] != '\0' || a->host->fault[w->candidate[i]->vendor].code != WHY_NONE)
			return refuse_answer("a GPU that can't be used", why);
	return asked->who.rootful || s->unenforced || can_be_held(w, a->host) ? 0 :
	    refuse_answer("GPUs to which a rootless container can't be held", why);
}

int
authz_answer_accept(struct authz_answer *a, const struct authz_query *asked, const struct settings *s, struct why *why)
{
	const struct giving giving = { &a->policy, &asked->who, a->host, s, &a->grant, why };
	struct why ignored;
	size_t i;

	if (!has_proof(a, asked, s))
		return refuse_answer("a proof of the pipeline that there is not", why);
	if (!has_texts(&a->policy) || a->policy.env.n > AUTHZ_ENV_MAX)
		return refuse_answer("a text that is none", why);
	if (parsed_check_grants(&a->policy, &ignored) == -1)
		return refuse_answer("a policy that no file can have", why);
	for (i = 0; i < a->grant.gpus; i++)
		if (check_want(a, i, asked, s, why) == -1)
			return -1;
	if (a->grant.wait > s->max_wait)
		return refuse_answer("a wait of more than max_wait", why);
	for (i = 0; i < a->folders; i++)
		if (granted_folder_give(&a->folder[i], PROGRAM, &giving) == -1)
			return -1;
	return 0;
}
