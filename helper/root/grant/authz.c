/*
 * See authz.h. The words of the request, which the task's author wrote, go to gpuhelper-engine as they are: this file
 * must not interpret them.
 */
#include "authz.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../../host/own/issuerkeys.h"
#include "../child/engine.h"
#include "../child/looker.h"
#include "../child/reader.h"
#include "../enter/owncgroup.h"

/* The issuers' keys, for a token. -1 with *why: memory is short. */
static int
find_keys(const struct authz *r, struct authz_ask *a, struct why *why)
{
	const struct settings *s = &r->settings;

	if (a->words.token == NULL)
		return 0;
	if ((a->keys = issuers_keys_find(s, true)) == NULL)
		return refuse_nomem(why);
	a->issuers = s->issuers;
	return 0;
}

/* What the record of a refusal names if gpuhelper-engine does not answer. -1 with *why: the lease names no pipeline. */
static int
expect_origin(struct authz *r, const struct request_words *w, const char *remembered, struct why *why)
{
	if (remembered != NULL) {
		r->identified = identity_unpack(remembered, &r->origin);
		return r->identified ? 0 : refuse(why, WHY_DENIED, "the container's lease does not name its pipeline");
	}
	if (w->token != NULL)
		token_hash(w->token, r->origin.token_hash);
	else
		r->origin.id = (struct identity){ .kind = IDENTITY_CLAIM, .team = w->team, .pipeline = w->pipeline, .job = w->job };
	return 0;
}

static int
take_origin(struct authz *r, struct authz_answer *from, struct why *why)
{
	char hash[HASH_SIZE];

	if (!from->heard)
		return -1;
	memcpy(hash, r->origin.token_hash, sizeof(hash));
	origin_free(&r->origin);
	origin_move(&from->origin, &r->origin);
	memcpy(r->origin.token_hash, hash, sizeof(hash));
	r->identified = from->identified;
	r->looked = from->looked;
	r->judged = from->judged;
	if (!from->has_token)
		return 0;
	if (from->issuer >= r->settings.issuers)
		return refuse(why, WHY_BUG, "gpuhelper-engine names an issuer that is not in gpuhelper.conf");
	origin_from_token(&r->origin, &r->settings.issuer[from->issuer]);
	return 0;
}

/* The grant refers to arrays of the policy and the inventory, which stay where they are. */
static void
take_grant(struct authz *r, struct authz_answer *from)
{
	r->policy = from->policy;
	r->nested = from->nested;
	r->decision = (struct decision){ VERDICT_GRANT, { 0 }, &r->policy, from->inventory, from->grant };
	from->policy = (struct policy){ .name = NULL };
	from->nested = (struct policy_set){ .n = 0 };
	from->inventory = (struct inventory){ .gpus = 0 };
	from->grant = (struct grant){ .gpus = 0 };
}

static int
ask_and_take(struct authz *r, struct authz_ask *a, const char *read, size_t len, struct why *why)
{
	autoauthzanswer struct authz_answer answer = { .issuer = 0 };
	struct why unnamed;
	int ret = engine_ask_authz(a, &r->settings, read, len, &answer, why);

	ret = reader_note_answers(answer.policies, answer.specs, ret, why);
	/* of a refusal, the record names what is known */
	if (take_origin(r, &answer, ret == 0 ? why : &unnamed) == -1)
		ret = -1;
	if (ret == 0)
		take_grant(r, &answer);
	return ret;
}

int
authz_make(struct authz *r, const struct request_words *words, const char *remembered, struct why *why)
{
	const struct call *c = r->call;
	struct authz_ask a = { .who = c->peer->client, .words = *words, .remembered = (char *)(uintptr_t)remembered,
		.privileged = remembered == NULL && c->request->spec.privileged,
		.is_run = c->request->spec.is_run, .now = time(NULL) };
	const char *read;
	size_t len;
	int ret;

	r->asks_nothing = authz_asks_nothing(words, remembered);
	if (expect_origin(r, words, remembered, why) == -1)
		return -1;
	if (reader_ask_policies(&r->settings, &read, &len, why) == -1)
		return -1;
	/* amdkfd shows the GPUs that the device rules of the reader's cgroup allow: the caller must not choose these */
	if (leave_cgroup(c->peer->starter, why) == -1)
		return -1;
	/* meanwhile the looker sets itself up */
	looker_exec(true);
	if (find_keys(r, &a, why) == -1)
		return -1;
	ret = ask_and_take(r, &a, read, len, why);
	found_keys_free(a.keys, a.issuers);
	return ret;
}

void
authz_free(struct authz *r)
{
	decision_free(&r->decision);
	origin_free(&r->origin);
	policy_free(&r->policy);
	policy_set_free(&r->nested);
	settings_free(&r->settings);
}
