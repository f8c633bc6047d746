/* See judge.h. Parses only the lines of the answers (ask/judgeask.h), never a token. */
#include "judge.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <time.h>

#include "../../ask/judgeask.h"
#include "../../base/cleanup.h"
#include "../../host/file.h"
#include "../../host/listing.h"
#include "../../host/own/issuerkeys.h"
#include "../self/spawn.h"

#define PROGRAM "gpuhelper-judge"
#define ANSWER_MS 4000		/* an answer takes milliseconds, unless the machine is busy */
#define LISTED_MAX 1024		/* devices, and the connectors of screens */
#define HOST_MS 8000		/* the same for the host's GPUs: /sys may be slow */

/* it moves along: the kernel shows it only those AMD GPUs that the device rules of its cgroup allow */
static struct spawned judge = { PROGRAM, true, JUDGE_ASK_MAX, JUDGE_ANSWER_MAX, .moves = true, .channel = -1 };

/* True if the directory has a name that begins with «prefix», or can't be read. */
static bool
is_listed(const char *dir, const char *prefix)
{
	autostrlist struct strlist names = { 0 };
	size_t i = 0;

	if (listing_names(file_open_beneath(file_root(), dir, O_RDONLY | O_DIRECTORY), LISTED_MAX, &names) == -1)
		return errno != ENOENT;
	while (i < names.n && !text_starts(names.v[i], prefix))
		i++;
	return i < names.n;
}

void
judge_start(void)
{
	/*
	 * libudev takes as long to load as the judge to look at NVIDIA's GPUs. NVIDIA's driver tells udev of no node but the
	 * DRM ones; were that to change, nvidiactl, which is always 195:255, would be a device in /sys
	 */
	if (is_listed("sys/class/drm", "renderD") || is_listed("sys/class/accel", "accel") ||
	    access("/sys/dev/char/195:255", F_OK) == 0)
		judge.file = PROGRAM "-udev";
	spawned_start(&judge);
	spawned_execute(&judge);
}

void
judge_end(void)
{
	spawned_end(&judge);
}

static int
receive_from_judge(const struct judge_ask *a, const char *bytes, size_t len, struct judge_answer *out, struct why *why)
{
	struct lines t = { .at = bytes, .end = bytes + len };

	judge_answer_lines(&t, a->verb, out);
	if (out->other_version)
		return refuse(why, WHY_CONFIG, "gpuhelper and " PROGRAM " differ in version: install both again (make install)");
	if (!lines_finish(&t))
		return t.nomem ? refuse_nomem(why) : refuse(why, WHY_BUG, PROGRAM " sent a malformed answer");
	/* refuse() keeps the judge's text on one line */
	return out->why.code == WHY_NONE ? judge_answer_check(a, out, why) : refuse(why, out->why.code, "%s", out->why.text);
}

/* judge_answer_free() in either case. */
static int
ask_judge(struct judge_ask *a, int ms, struct judge_answer *out, struct why *why)
{
	autobuf struct buf b = { 0 };
	struct lines t = { .out = &b };
	autofree char *answer = NULL;
	size_t len;

	judge_ask_lines(&t, a);
	/* the lines of the question fail only if memory is short: no date in it is before 1970 */
	if (!lines_finish(&t))
		return refuse_nomem(why);
	if (spawned_ask(&judge, b.p, b.len, why) == 0)
		answer = spawned_receive(&judge, ms, &len, why);
	return answer != NULL ? receive_from_judge(a, answer, len, out, why) : -1;
}

int
judge_ask_host(uint32_t vendors, struct inventory *out, struct why *why)
{
	struct judge_ask a = { .verb = JUDGE_HOST, .vendors = vendors };
	autojudgeanswer struct judge_answer answer = { .issuer = 0 };
	const int ret = ask_judge(&a, HOST_MS, &answer, why);

	*out = answer.inventory;
	answer.inventory = (struct inventory){ 0 };
	return ret;
}

int
judge_ask_token(char *token, struct settings *s, struct origin *out, struct why *why)
{
	const time_t now = time(NULL);
	struct judge_ask a = { .verb = JUDGE_TOKEN, .text = token, .now = now > 0 ? now : 0, .issuer = s->issuer,
	    .keys = issuers_keys_find(s, true), .issuers = s->issuers };
	autojudgeanswer struct judge_answer answer = { .issuer = 0 };
	int ret;

	*out = (struct origin){ .id = { .kind = IDENTITY_TOKEN } };
	token_hash(token, out->token_hash);
	if (a.keys == NULL)
		return refuse_nomem(why);
	if ((ret = ask_judge(&a, ANSWER_MS, &answer, why)) == 0) {
		out->claims = answer.claims;
		answer.claims = (struct token_claims){ 0 };
		origin_from_token(out, &s->issuer[answer.issuer]);
	}
	found_keys_free(a.keys, a.issuers);
	return ret;
}

int
judge_ask_vars(const char *text, struct instance_vars *out, struct why *why)
{
	struct judge_ask a = { .verb = JUDGE_VARS, .text = (char *)(uintptr_t)text };
	autojudgeanswer struct judge_answer answer = { .issuer = 0 };

	if (ask_judge(&a, ANSWER_MS, &answer, why) == -1)
		return -1;
	*out = answer.vars;
	answer.vars = (struct instance_vars){ .there = false };
	return 0;
}

int
judge_ask_grant(const struct grant_ask *question, struct verdict *out, struct why *why)
{
	struct judge_ask a = { .verb = JUDGE_GRANT, .grant = *question };
	autojudgeanswer struct judge_answer answer = { .issuer = 0 };

	if (ask_judge(&a, ANSWER_MS, &answer, why) == -1)
		return -1;
	*out = answer.verdict;
	answer.verdict = (struct verdict){ .policy = 0 };
	return 0;
}
