/*
 * gpuhelper-judge's questions and answers are read back as they were written; and which answers the
 * helper accepts (ask/judgequery.h).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ask/judgequery.h"
#include "base/cleanup.h"
#include "judge/instancevar.h"
#include "policy/claimsetadd.h"
#include "rnd.h"
#include "tap.h"

#define NOW 1790000000
#define ONCE "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

static struct issuer_setting issuers[2] = {
	{ .url = (char []){ "https://ci" }, .audience = (char []){ "a b" }, .keys = (char []){ "/etc/gpuhelper/keys/ci" },
	    .max_age = 3600, .claims = { .pipeline = (char []){ "repo" }, .bytes = 9000 } },
	{ .url = (char []){ "https://other" }, .audience = (char []){ "-" }, .keys = (char []){ "/k" }, .max_age = 7,
	    .keys_max_age = 9 },
};
static struct found_keys keys[2] = {
	{ .text = (char []){ "{ \"keys\": [ \"\n\" ] }" }, .fetched = 5 },
	{ .why = { WHY_CONFIG, "there are no keys" } },
};
static struct judge_query asked = { .verb = JUDGE_TOKEN, .text = (char []){ "a.b.c" }, .now = NOW, .issuer = issuers,
	.keys = keys, .issuers = 2 };

static char *
ask_text(struct judge_query *a, size_t *len)
{
	autobuf struct buf b = { 0 };
	struct lines t = { .out = &b };

	judge_query_lines(&t, a);
	if (!lines_finish(&t))
		return NULL;
	*len = b.len;
	return buf_take(&b);
}

static bool
ask_taken(const char *text, size_t len, struct judge_query *a)
{
	struct lines t = { .at = text, .end = text + len };

	*a = (struct judge_query){ .verb = JUDGE_TOKEN };
	judge_query_lines(&t, a);
	return lines_finish(&t);
}

static char *
answer_text(enum judge_verb verb, struct judge_answer *a, size_t *len)
{
	autobuf struct buf b = { 0 };
	struct lines t = { .out = &b };

	judge_answer_lines(&t, verb, a);
	if (!lines_finish(&t))
		return NULL;
	*len = b.len;
	return buf_take(&b);
}

static bool
answer_taken(enum judge_verb verb, const char *text, size_t len, struct judge_answer *a)
{
	struct lines t = { .at = text, .end = text + len };

	*a = (struct judge_answer){ .issuer = 0 };
	judge_answer_lines(&t, verb, a);
	return lines_finish(&t);
}

static void
make_answer(struct judge_answer *a)
{
	*a = (struct judge_answer){ .issuer = 0, .claims = { .team = strdup("ml"), .pipeline = strdup("a/b c"),
		.iat = NOW - 5, .exp = NOW + 600, .once = ONCE } };
	a->claims.instance_vars.there = true;
	strlist_add(&a->claims.instance_vars.name, "pr", SIZE_MAX);
	strlist_add(&a->claims.instance_vars.value, "{\"a\":[1,\"%\"]}", SIZE_MAX);
	(void)claim_set_add(&a->claims.claims, "ref", "\"refs/heads/a b");
}

static void
test_question(void)
{
	size_t len, i, good = 0;
	autofree char *text = ask_text(&asked, &len), *other = NULL;
	struct judge_query a;

	ok(ask_taken(text, len, &a) && a.verb == JUDGE_TOKEN && strcmp(a.text, "a.b.c") == 0 && a.now == NOW && a.issuers == 2 &&
	    strcmp(a.issuer[0].audience, "a b") == 0 && a.issuer[1].keys_max_age == 9 && strcmp(a.keys[0].text, keys[0].text) == 0 &&
	    a.keys[0].fetched == 5 && a.keys[1].text == NULL && a.keys[1].why.code == WHY_CONFIG &&
	    strcmp(a.keys[1].why.text, "there are no keys") == 0 && strcmp(a.issuer[0].claims.pipeline, "repo") == 0 &&
	    a.issuer[0].claims.bytes == 9000 && a.issuer[1].claims.pipeline == NULL,
	    "a question is written and read back");
	judge_query_free(&a);
	for (i = 0; i < len; i++) {
		good += ask_taken(text, i, &a);
		judge_query_free(&a);
	}
	is_int((long long)good, 0, "no truncated question is accepted");
	other = strdup(text);
	*strstr(other, GPUHELPER_VERSION) = '9';
	ok(!ask_taken(other, len, &a), "a question of another version is refused");
	judge_query_free(&a);
}

static void
test_many_issuers(void)
{
	struct issuer_setting many[ISSUERS_MAX];
	struct found_keys found[ISSUERS_MAX];
	struct judge_query a = { .verb = JUDGE_TOKEN, .text = asked.text, .now = NOW, .issuer = many, .keys = found,
		.issuers = ISSUERS_MAX }, back;
	autofree char *most = NULL;
	autobuf struct buf more = { 0 };
	const char *last;
	size_t i, len;

	for (i = 0; i < ISSUERS_MAX; i++) {
		many[i] = issuers[i % 2];
		found[i] = keys[i % 2];
	}
	most = ask_text(&a, &len);
	ok(ask_taken(most, len, &back) && back.issuers == ISSUERS_MAX,
	    "a question with the greatest number of issuers is accepted");
	judge_query_free(&back);
	for (last = most + len; strncmp(last, "\nissuer ", 8) != 0; last--)
		continue;
	buf_add(&more, most, (size_t)(strstr(last + 1, "\nend\n") - most));
	buf_puts(&more, last);
	ok(!ask_taken(more.p, more.len, &back),
	    "one issuer more is refused: %zu bytes, and %zu", more.len, len);
	judge_query_free(&back);
}

static void
test_answer(void)
{
	struct judge_answer a, back;
	autofree char *text = NULL, *no = NULL, *vars = NULL;
	struct why why = { 0 };
	size_t len, i, good = 0;

	make_answer(&a);
	text = answer_text(JUDGE_TOKEN, &a, &len);
	ok(answer_taken(JUDGE_TOKEN, text, len, &back) && judge_answer_check(&asked, &back, &why) == 0 && back.issuer == 0 &&
	    strcmp(back.claims.pipeline, "a/b c") == 0 && back.claims.job == NULL && strcmp(back.claims.once, ONCE) == 0 &&
	    strcmp(instance_var(&back.claims.instance_vars, "pr"), "{\"a\":[1,\"%\"]}") == 0,
	    "an answer is written and read back %s", why.text);
	judge_answer_free(&back);
	ok(!answer_taken(JUDGE_VARS, text, len, &back), "an answer to another question is refused");
	judge_answer_free(&back);
	for (i = 0; i < len; i++) {
		good += answer_taken(JUDGE_TOKEN, text, i, &back);
		judge_answer_free(&back);
	}
	is_int((long long)good, 0, "no truncated answer is accepted");
	a.vars = a.claims.instance_vars;
	a.claims.instance_vars = (struct instance_vars){ .there = false };
	vars = answer_text(JUDGE_VARS, &a, &len);
	ok(answer_taken(JUDGE_VARS, vars, len, &back) && instance_var(&back.vars, "pr") != NULL && back.claims.team == NULL,
	    "an answer about variables is read back");
	judge_answer_free(&back);
	refuse(&a.why, WHY_DENIED, "the token expired");
	no = answer_text(JUDGE_TOKEN, &a, &len);
	ok(answer_taken(JUDGE_TOKEN, no, len, &back) && back.why.code == WHY_DENIED &&
	    strcmp(back.why.text, "the token expired") == 0 && back.claims.team == NULL,
	    "a refusal is read back, without an identity");
	judge_answer_free(&back);
	judge_answer_free(&a);
}

/* A verdict with content that no token can have is refused. */
static void
test_lies(void)
{
	static const struct { const char *from, *to, *what; } t[] = {
		{ " 0\nclaims", " 2\nclaims",
		    "an issuer that was not in the question" },
		{ " 0\nclaims", " 1\nclaims",
		    "an issuer whose keys are missing" },
		{ " ml ", " - ", "no team" }, { "a/b%20c", "-", "no pipeline" },
		{ "a/b%20c", "a%FFc",
		    "a pipeline that is not UTF-8" },
		{ "claims ml", "claims ml x", "an extra word" },
		{ ONCE, "00",
		    "a hash that is too short" }, { "eeff00", "eefg00", "a hash that is not hex" },
		{ " 1789999995 ", " 1790000061 ",
		    "a token issued in the future" },
		{ " 1789999995 ", " 1789996399 ", "a token that is too old" },
		{ " 1790000600 ", " 1789999940 ",
		    "a token that has expired" },
		{ "answer " GPUHELPER_VERSION, "answer 9", "another version" },
	};
	struct judge_answer a, back;
	autofree char *text = NULL;
	struct why why;
	size_t len, i;
	bool taken;

	make_answer(&a);
	text = answer_text(JUDGE_TOKEN, &a, &len);
	judge_answer_free(&a);
	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		const char *at = strstr(text, t[i].from);
		autobuf struct buf evil = { 0 };

		if (at == NULL) {
			ok(false, "«%s» is found in the answer: %s", t[i].from, text);
			continue;
		}
		buf_add(&evil, text, (size_t)(at - text));
		buf_puts(&evil, t[i].to);
		buf_puts(&evil, at + strlen(t[i].from));
		taken = answer_taken(JUDGE_TOKEN, evil.p, evil.len, &back);
		ok(!taken || (judge_answer_check(&asked, &back, &why) == -1 && why.code == WHY_BUG), "%s", t[i].what);
		judge_answer_free(&back);
	}
}

/* Changes random bytes: the answer is refused, or is written back unchanged. */
static void
test_flipped(void)
{
	struct judge_answer a, back;
	autofree char *text = NULL, *evil = NULL;
	size_t len, i, again_len, same = 0, taken = 0;
	struct why why;

	make_answer(&a);
	text = answer_text(JUDGE_TOKEN, &a, &len);
	judge_answer_free(&a);
	evil = malloc(len + 1);
	for (i = 0; i < 20000; i++) {
		memcpy(evil, text, len + 1);
		evil[rnd(len)] = (char)rnd(256);
		if (answer_taken(JUDGE_TOKEN, evil, len, &back) && back.why.code == WHY_NONE) {
			autofree char *again = answer_text(JUDGE_TOKEN, &back, &again_len);

			taken++;
			same += again != NULL && again_len == len && memcmp(again, evil, len) == 0;
			(void)judge_answer_check(&asked, &back, &why);
		}
		judge_answer_free(&back);
	}
	ok(taken > 100 && same == taken,
	    "of 20000 answers with a changed byte, %zu are accepted, each written back unchanged",
	    taken);
}

int
main(void)
{
	test_question();
	test_many_issuers();
	test_answer();
	test_lies();
	test_flipped();
	return done_testing();
}
