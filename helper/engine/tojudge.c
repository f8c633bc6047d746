/* See tojudge.h. Parses only the lines of the answers (ask/judgequery.h), never a token. */
#include "tojudge.h"

#include <stdint.h>
#include <stdlib.h>

#include "../ask/enginequery.h"
#include "../base/cleanup.h"
#include "tohelper.h"

#define PROGRAM "gpuhelper-judge"

static bool
send_question(char kind, struct judge_query *a, struct why *why)
{
	autobuf struct buf b = { 0 };
	struct lines t = { .out = &b };

	judge_query_lines(&t, a);
	/* the lines of the question fail only if memory is short: no date in it is before 1970 */
	if (!lines_finish(&t)) {
		(void)refuse_nomem(why);
		return false;
	}
	if (helper_send(kind, &b))
		return true;
	(void)refuse(why, WHY_IO, "gpuhelper-engine: the helper does not take a question to " PROGRAM);
	return false;
}

/* judge_answer_free() in either case. */
static int
hear_answer(const struct judge_query *a, struct judge_answer *out, struct why *why)
{
	size_t len;
	autofree char *bytes = helper_receive(&len, why);
	struct lines t;

	if (bytes == NULL)
		return -1;
	t = (struct lines){ .at = bytes, .end = bytes + len };
	judge_answer_lines(&t, a->verb, out);
	if (out->other_version)
		return refuse(why, WHY_CONFIG, "gpuhelper and " PROGRAM " differ in version: install both again (make install)");
	if (!lines_finish(&t))
		return t.nomem ? refuse_nomem(why) : refuse(why, WHY_BUG, PROGRAM " sent a malformed answer");
	/* refuse() keeps the judge's text on one line */
	return out->why.code == WHY_NONE ? judge_answer_check(a, out, why) : refuse(why, out->why.code, "%s", out->why.text);
}

static int
ask_judge(struct judge_query *a, struct judge_answer *out, struct why *why)
{
	return send_question(ENGINE_ASKS, a, why) ? hear_answer(a, out, why) : -1;
}

int
tojudge_host(uint32_t vendors, take_specs *take, void *ctx, struct inventory *out, struct why *why)
{
	struct judge_query a = { .verb = JUDGE_HOST, .vendors = vendors };
	autojudgeanswer struct judge_answer answer = { .issuer = 0 };
	autofree char *specs = NULL;
	struct why unread = { 0 };
	size_t len = 0, i;
	int ret;

	*out = (struct inventory){ .gpus = 0 };
	if (!send_question(vendors != 0 ? ENGINE_ASKS_HOST : ENGINE_ASKS, &a, why))
		return -1;
	if (vendors != 0) {
		specs = helper_receive(&len, &unread);
		take(ctx, specs, len, &unread);
	}
	ret = hear_answer(&a, &answer, why);
	*out = answer.inventory;
	answer.inventory = (struct inventory){ .gpus = 0 };
	for (i = 0; i < out->gpus; i++)
		out->gpu[i].place = (uint32_t)i;
	return ret;
}

int
tojudge_token(const struct authz_query *asked, struct settings *s, struct principal *out, uint32_t *issuer,
    struct why *why)
{
	struct judge_query a = { .verb = JUDGE_TOKEN, .text = asked->untrusted.token, .now = asked->now,
	    .issuer = s->issuer, .keys = asked->keys, .issuers = s->issuers };
	autojudgeanswer struct judge_answer answer = { .issuer = 0 };

	*out = (struct principal){ .id = { .kind = IDENTITY_TOKEN } };
	if (asked->issuers != s->issuers)
		return refuse(why, WHY_BUG, "gpuhelper-engine has not the keys of all issuers");
	if (ask_judge(&a, &answer, why) == -1)
		return -1;
	*issuer = answer.issuer;
	out->claims = answer.claims;
	answer.claims = (struct token_claims){ 0 };
	principal_from_token(out, &s->issuer[answer.issuer]);
	return 0;
}

int
tojudge_vars(const char *text, struct instance_vars *out, struct why *why)
{
	struct judge_query a = { .verb = JUDGE_VARS, .text = (char *)(uintptr_t)text };
	autojudgeanswer struct judge_answer answer = { .issuer = 0 };

	if (ask_judge(&a, &answer, why) == -1)
		return -1;
	*out = answer.vars;
	answer.vars = (struct instance_vars){ .there = false };
	return 0;
}

int
tojudge_grant(const struct grant_query *question, struct decision_indexes *out, struct why *why)
{
	struct judge_query a = { .verb = JUDGE_GRANT, .grant = *question };
	autojudgeanswer struct judge_answer answer = { .issuer = 0 };

	if (ask_judge(&a, &answer, why) == -1)
		return -1;
	*out = answer.indexes;
	answer.indexes = (struct decision_indexes){ .policy = 0 };
	return 0;
}
