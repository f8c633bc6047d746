/* See judge.h.  Parses nothing but lines, and looks into no token. */
#include "judge.h"

#include <stdint.h>
#include <time.h>

#include "../host/issuerkeys.h"
#include "../pure/cleanup.h"
#include "../pure/judgeask.h"
#include "spawn.h"

#define PROGRAM "gpuhelper-judge"
#define ANSWER_MS 4000		/* for what takes milliseconds */
#define HOST_MS 8000		/* likewise, of a host whose /sys may be slow */

static struct spawned judge = { PROGRAM, true, JUDGE_ASK_MAX, JUDGE_ANSWER_MAX, .channel = -1 };

void
judge_start(void)
{
	spawned_start(&judge);
}

void
judge_wake(void)
{
	spawned_wake(&judge);
}

void
judge_end(void)
{
	spawned_end(&judge);
}

pid_t
judge_pid(void)
{
	return judge.pid;
}

static int
hear(const struct judge_ask *a, const char *bytes, size_t len, struct judge_answer *out, struct why *why)
{
	struct lines t = { .at = bytes, .end = bytes + len };

	judge_answer_lines(&t, a->verb, out);
	if (out->other_version)
		return refuse(why, WHY_CONFIG, "gpuhelper and " PROGRAM " are not of one version: install both again (make install)");
	if (!lines_finish(&t))
		return t.nomem ? refuse_nomem(why) : refuse(why, WHY_BUG, PROGRAM " answers what it should not");
	/* by refuse(), which lets no line be two */
	return out->why.code == WHY_NONE ? judge_answer_check(a, out, why) : refuse(why, out->why.code, "%s", out->why.text);
}

static int
send_question(struct judge_ask *a, struct why *why)
{
	autobuf struct buf b = { 0 };
	struct lines t = { .out = &b };

	judge_ask_lines(&t, a);
	/* no date in the question is before 1970, so nothing but memory can be short */
	return lines_finish(&t) ? spawned_ask(&judge, b.p, b.len, why) : refuse_nomem(why);
}

/* judge_answer_free() in either case. */
static int
receive_answer(const struct judge_ask *a, int ms, struct judge_answer *out, struct why *why)
{
	size_t len;
	autofree char *answer = spawned_hear(&judge, ms, &len, why);

	return answer != NULL ? hear(a, answer, len, out, why) : -1;
}

static int
ask(struct judge_ask *a, struct judge_answer *out, struct why *why)
{
	return send_question(a, why) == -1 ? -1 : receive_answer(a, ANSWER_MS, out, why);
}

/* The question about the host, while its answer is outstanding. */
static struct judge_ask host_question = { .verb = JUDGE_HOST };
static struct why unsent;

void
judge_looks(uint32_t vendors)
{
	host_question.vendors = vendors;
	(void)send_question(&host_question, &unsent);
}

int
judge_sees(struct inventory *out, struct why *why)
{
	autojudgeanswer struct judge_answer answer = { .issuer = 0 };
	int ret = -1;

	if (unsent.code != WHY_NONE)
		*why = unsent;
	else
		ret = receive_answer(&host_question, HOST_MS, &answer, why);
	*out = ret == 0 ? answer.inventory : (struct inventory){ 0 };
	if (ret == 0)
		answer.inventory = (struct inventory){ 0 };
	return ret;
}

int
judge_identifies(char *token, struct settings *s, struct known *out, struct why *why)
{
	const time_t now = time(NULL);
	struct judge_ask a = { .verb = JUDGE_TOKEN, .text = token, .now = now > 0 ? now : 0, .issuer = s->issuer,
	    .keys = issuers_keys_find(s, true), .issuers = s->issuers };
	autojudgeanswer struct judge_answer answer = { .issuer = 0 };
	int ret;

	*out = (struct known){ .id = { .kind = IDENTITY_TOKEN } };
	token_hash(token, out->token_hash);
	if (a.keys == NULL)
		return refuse_nomem(why);
	if ((ret = ask(&a, &answer, why)) == 0) {
		out->claims = answer.claims;
		answer.claims = (struct token_claims){ 0 };
		known_by_token(out, &s->issuer[answer.issuer]);
	}
	found_keys_free(a.keys, a.issuers);
	return ret;
}

int
judge_parses_vars(const char *text, struct instance_vars *out, struct why *why)
{
	struct judge_ask a = { .verb = JUDGE_VARS, .text = (char *)(uintptr_t)text };
	autojudgeanswer struct judge_answer answer = { .issuer = 0 };

	if (ask(&a, &answer, why) == -1)
		return -1;
	*out = answer.vars;
	answer.vars = (struct instance_vars){ .there = false };
	return 0;
}

int
judge_decides(const struct grant_ask *question, struct verdict *out, struct why *why)
{
	struct judge_ask a = { .verb = JUDGE_GRANT, .grant = *question };
	autojudgeanswer struct judge_answer answer = { .issuer = 0 };

	if (ask(&a, &answer, why) == -1)
		return -1;
	*out = answer.verdict;
	answer.verdict = (struct verdict){ .policy = 0 };
	return 0;
}
