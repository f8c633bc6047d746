/*
 * See authz.h. The texts of the request, which the task's author wrote, go to gpuhelper-engine as they are: this file
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
find_keys(const struct authz *authz, struct authz_query *a, struct why *why)
{
	const struct settings *s = &authz->settings;

	if (a->untrusted.token == NULL)
		return 0;
	if ((a->keys = issuers_keys_find(s, true)) == NULL)
		return refuse_nomem(why);
	a->issuers = s->issuers;
	return 0;
}

/* What the record of a refusal names if gpuhelper-engine does not answer. -1 with *why: the lease names no pipeline. */
static int
expect(struct authz *authz, const struct untrusted *untrusted, const char *packed, struct why *why)
{
	if (packed != NULL) {
		authz->identified = attribution_unpack(packed, &authz->whose);
		return authz->identified ? 0 :
		    refuse(why, WHY_DENIED, "the container's lease does not name its pipeline");
	}
	if (untrusted->token == NULL)
		return attribution_claimed(untrusted, &authz->whose) ? 0 : refuse_nomem(why);
	token_hash(untrusted->token, authz->whose.token_hash);
	return 0;
}

/* What a lease says stays. The issuer's name is that of gpuhelper.conf, and not what gpuhelper-engine says. */
static int
take_whose(struct authz *authz, struct authz_answer *from, struct why *why)
{
	struct attribution *whose = &authz->whose;

	if (!from->heard)
		return -1;
	authz->searched = from->searched;
	authz->judged = from->judged;
	if (authz->identified)
		return 0;
	memcpy(from->whose.token_hash, whose->token_hash, sizeof(whose->token_hash));
	attribution_free(whose);
	*whose = from->whose;
	from->whose = (struct attribution){ .exp = 0 };
	authz->identified = from->identified;
	if (!from->has_token)
		return 0;
	if (from->issuer >= authz->settings.issuers)
		return refuse(why, WHY_BUG, "gpuhelper-engine names an issuer that is not in gpuhelper.conf");
	whose->by = &authz->settings.issuer[from->issuer];
	free(whose->issuer);
	return (whose->issuer = strdup(whose->by->url)) != NULL ? 0 : refuse_nomem(why);
}

/* The grant refers to an array of the policy, which stays where it is, and to the judge's report (child/engine.c). */
static void
take_grant(struct authz *authz, struct authz_answer *from)
{
	authz->policy = from->policy;
	authz->writers = from->writers;
	authz->decision = (struct decision){ VERDICT_GRANT, { 0 }, &authz->policy, *from->host, from->grant };
	from->policy = (struct policy){ .name = NULL };
	from->writers = (struct policy_set){ .n = 0 };
	from->grant = (struct grant){ .gpus = 0 };
}

static int
ask_and_take(struct authz *authz, struct authz_query *a, const char *read, size_t len, struct why *why)
{
	autoauthzanswer struct authz_answer answer = { .issuer = 0 };
	struct why unnamed;
	int ret = engine_ask_authz(a, &authz->settings, read, len, &answer, why);

	ret = reader_note_answers(answer.policies, answer.specs, ret, why);
	/* of a refusal, the record names what is known */
	if (take_whose(authz, &answer, ret == 0 ? why : &unnamed) == -1 || ret == -1)
		return -1;
	take_grant(authz, &answer);
	return 0;
}

int
authz_make(struct authz *authz, const struct untrusted *untrusted, const char *packed, struct why *why)
{
	const struct call *c = authz->call;
	struct authz_query a = { .who = c->peer->client, .untrusted = *untrusted,
		.packed_attribution = (char *)(uintptr_t)packed, .is_run = c->request->spec.is_run,
		.privileged = packed == NULL && c->request->spec.privileged, .now = time(NULL) };
	const char *read;
	size_t len;
	int ret;

	authz->asks_nothing = authz_asks_nothing(untrusted, packed);
	if (expect(authz, untrusted, packed, why) == -1)
		return -1;
	if (reader_ask_policies(&authz->settings, &read, &len, why) == -1)
		return -1;
	/* amdkfd shows the GPUs that the device rules of the reader's cgroup allow: the caller must not choose these */
	if (leave_cgroup(c->peer->starter, why) == -1)
		return -1;
	/* meanwhile the looker sets itself up */
	looker_exec(true);
	if (find_keys(authz, &a, why) == -1)
		return -1;
	ret = ask_and_take(authz, &a, read, len, why);
	found_keys_free(a.keys, a.issuers);
	return ret;
}

void
authz_free(struct authz *authz)
{
	grant_free(&authz->decision.grant);
	attribution_free(&authz->whose);
	policy_free(&authz->policy);
	policy_set_free(&authz->writers);
	settings_free(&authz->settings);
}
