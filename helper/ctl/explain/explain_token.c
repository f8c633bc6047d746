/*
 * gpuhelperctl explain --token-file: checks one token with the helper's own code, as of now or another time.  A valid
 * token is a secret: prints nothing of it but what the functions of identity.h return.
 */
#include "../../policy/policydecide.h"
#include "../../policy/tokenhash.h"
#include "explain.h"

#include <stdio.h>
#include <string.h>

#include "../../base/quoted.h"
#include "../../base/text.h"
#include "../when.h"

bool
token_alone(const struct options *o)
{
	return o->token_file != NULL && o->gpus == NULL && o->folders == NULL && o->user == NULL &&
	    o->pipeline == NULL && o->job == NULL && o->issuer == NULL && o->instance_vars == NULL && o->claims == NULL;
}

int
token_usage(const struct options *o)
{
	int64_t at;

	if (o->token_file == NULL)
		return misuse(o, "explain: --at needs --token-file");
	if (o->bundle != NULL)
		return misuse(o, "explain: a bundle has its own token: give --bundle or --token-file");
	if (o->identity != NULL && strcmp(o->identity, "token") != 0)
		return misuse(o, "explain: with --token-file, --identity must be token");
	if (o->at != NULL && !when_read(o->at, &at))
		return misuse(o, "explain: --at must be seconds since 1970 or like 2026-11-20T23:06:00Z, not \"%s\"", o->at);
	return 0;
}

void
token_notes(struct inquiry *q)
{
	const struct options *o = q->options;
	char when[32];

	text_time(q->now, when);
	if (o->at != NULL)
		note(q, "the token is checked as of %s", when);
	if (o->pipeline != NULL || o->job != NULL || o->issuer != NULL || o->instance_vars != NULL || o->claims != NULL)
		note(q, "the token names its pipeline: --pipeline, --job, --issuer, --instance-vars and --claims are ignored");
	if (q->identity.kind == IDENTITY_TOKEN)
		note(q, "not checked: whether another container has used the token already");
	note(q, "in the audit log, the token is token_sha256 %s", q->principal.token_hash);
}

/* Refuses if this host would refuse the token of each that may have signed it: --issuer, or gpuhelper.conf's. */
static int
check_issuers(const struct inquiry *q, struct why *why)
{
	const struct settings *s = &q->config->settings;
	const char *only = q->options->issuer;
	bool origin = false;
	size_t i;

	for (i = 0; i < s->issuers; i++) {
		if (only != NULL && strcmp(s->issuer[i].url, only) != 0)
			continue;
		if (config_issuer_usable(&s->issuer[i], q->config->strict, q->now, why) == 0)
			return 0;
		origin = true;
	}
	if (origin)
		return -1;
	return s->issuers == 0 ? refuse(why, WHY_CONFIG, "gpuhelper.conf has no issuers") :
	    refuse(why, WHY_DENIED, "%.120s is not one of gpuhelper.conf's issuers", only);
}

void
token_assume(struct inquiry *q)
{
	struct why why;

	q->tokens_fail = check_issuers(q, &why) == -1;
	if (q->tokens_fail)
		snprintf(q->assumed, sizeof(q->assumed), "a valid token of this pipeline, but today this host would refuse each "
		    "one: %.200s", why.text);
	else
		snprintf(q->assumed, sizeof(q->assumed), "a valid token of this pipeline; none was given (--token-file FILE "
		    "checks one)");
}

static json_t *
claims_json(const struct principal *k)
{
	json_t *j = json_object();

	put_owner(j, &k->id);
	json_object_set_new(j, "iat", json_integer(k->claims.iat));
	json_object_set_new(j, "exp", json_integer(k->claims.exp));
	return j;
}

static void
print_token_json(const struct inquiry *q, bool holds)
{
	json_t *j = json_object();

	put_text(j, "outcome", holds ? "holds" : "refused");
	if (holds) {
		json_object_set_new(j, "claims", claims_json(&q->principal));
	} else {
		put_text(j, "reason", q->why.text);
		json_object_set_new(j, "code", json_integer(q->why.code));
	}
	json_object_set_new(j, "token", token_json(&q->token));
	json_object_set_new(j, "notes", strings_json(&q->notes));
	put_out(j);
}

int
token_answer(struct inquiry *q)
{
	const struct identity *id = &q->identity;
	const bool holds = id->kind == IDENTITY_TOKEN;
	size_t i;

	token_notes(q);
	if (q->options->json) {
		print_token_json(q, holds);
		return holds ? 0 : (int)q->why.code;
	}
	say_token(&q->token);
	if (holds)
		say("holds: pipeline %s/%s, job %s, by %s", quoted(id->team), quoted(id->pipeline),
		    id->job != NULL ? quoted(id->job) : "(none)", id->issuer);
	else
		say("refused: %s", q->why.text);
	for (i = 0; i < q->notes.n; i++)
		say("note: %s", q->notes.v[i]);
	return holds ? 0 : (int)q->why.code;
}
