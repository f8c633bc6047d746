/* See judgequery.h. */
#include "judgequery.h"

#include <stdlib.h>
#include <string.h>

#include "../gpu/inventorylines.h"
#include "../policy/instancevarstext.h"
#include "../policy/tokenhash.h"
#include "parsed.h"

#define PROGRAM "gpuhelper-judge"

/* Reads or writes the head. False if another version wrote it. */
static bool
begin_message(struct lines *t, const char *name, enum judge_verb *verb)
{
	static const char *const verbs[] = { "host", "token", "vars", "grant" };

	lines_begin(t, name);
	if (!field_version(t))
		return false;
	*verb = (enum judge_verb)field_name(t, verbs, sizeof(verbs) / sizeof(verbs[0]), (unsigned)*verb);
	return true;
}

void
judge_query_lines(struct lines *t, struct judge_query *a)
{
	size_t i;

	(void)begin_message(t, "ask", &a->verb);
	if (a->verb == JUDGE_HOST) {
		field_u32(t, &a->vendors);
		return;
	}
	if (a->verb == JUDGE_GRANT) {
		grant_query_lines(t, &a->grant);
		return;
	}
	field_copy(t, &a->text);
	field_i64(t, &a->now);
	if (t->out == NULL && ((a->issuer = calloc(ISSUERS_MAX, sizeof(*a->issuer))) == NULL ||
	    (a->keys = calloc(ISSUERS_MAX, sizeof(*a->keys))) == NULL))
		lines_starve(t);
	for (i = 0; !t->failed && lines_more(t, "issuer", i < a->issuers); i++) {
		if (i == ISSUERS_MAX) {
			t->failed = true;
			return;
		}
		if (t->out == NULL)
			a->issuers = i + 1;
		issuer_lines(t, &a->issuer[i]);
		lines_begin(t, "keys");
		found_keys_fields(t, &a->keys[i]);
	}
}

void
judge_answer_lines(struct lines *t, enum judge_verb verb, struct judge_answer *a)
{
	enum judge_verb said = verb;

	a->other_version = !begin_message(t, "answer", &said);
	t->failed = t->failed || said != verb;
	why_fields(t, &a->why);
	if (t->failed || a->why.code != WHY_NONE)
		return;
	if (verb == JUDGE_HOST) {
		inventory_lines(t, &a->inventory);
		return;
	}
	if (verb == JUDGE_VARS) {
		instance_vars_lines(t, &a->vars);
		return;
	}
	if (verb == JUDGE_GRANT) {
		decision_indexes_lines(t, &a->indexes);
		return;
	}
	field_u32(t, &a->issuer);
	token_claims_lines(t, &a->claims);
}

void
judge_answer_free(struct judge_answer *a)
{
	inventory_free(&a->inventory);
	token_claims_free(&a->claims);
	instance_vars_free(&a->vars);
	decision_indexes_free(&a->indexes);
	*a = (struct judge_answer){ .issuer = 0 };
}

static bool
is_pipeline_name(const char *s)
{
	return *s != '\0' && text_is_utf8(s, strlen(s));
}

int
judge_answer_check(const struct judge_query *asked, const struct judge_answer *a, struct why *why)
{
	const struct token_claims *c = &a->claims;
	const struct found_keys *k;
	int64_t oldest;

	if (asked->verb != JUDGE_TOKEN)
		return 0;
	if (a->issuer >= asked->issuers)
		return refuse(why, WHY_BUG, PROGRAM " names an issuer that is not in gpuhelper.conf");
	k = &asked->keys[a->issuer];
	oldest = asked->issuer[a->issuer].keys_max_age;
	if (k->text == NULL || (oldest != 0 && asked->now - k->fetched > oldest))
		return refuse(why, WHY_BUG, PROGRAM " accepts a token of an issuer whose keys are missing or too old");
	if (!is_pipeline_name(c->team) || !is_pipeline_name(c->pipeline) || (c->job != NULL && !is_pipeline_name(c->job)) ||
	    strlen(c->once) != 64 || strspn(c->once, "0123456789abcdef") != 64)
		return refuse(why, WHY_BUG, PROGRAM " reports claims that no valid token has");
	if (c->iat > asked->now + TOKEN_LEEWAY || asked->now - c->iat > asked->issuer[a->issuer].max_age ||
	    c->exp <= asked->now - TOKEN_LEEWAY)
		return refuse(why, WHY_BUG, PROGRAM " accepts a token that is expired or not valid yet");
	return 0;
}
