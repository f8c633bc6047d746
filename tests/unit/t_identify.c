/*
 * judge/identify.c: which issuer signed a token. The judge parses nothing of a token before an
 * issuer's key has verified its signature. «explain», which reports each check, gives the same
 * result. The vectors are those of t_token.c.
 */
#include <stdlib.h>

#include <jansson.h>

#include "judge/identify.h"
#include "jwtvectors.h"
#include "tap.h"

#define UNSIGNED "has signed it"

static unsigned long json_allocations;

static void *
counting_malloc(size_t size)
{
	json_allocations++;
	return malloc(size);
}

/* A string of the settings. The functions under test do not change it. */
static char *
given(const json_t *j, const char *name)
{
	return (char *)(uintptr_t)text_of(j, name);
}

static struct issuer_setting
issuer_named(const char *name)
{
	const json_t *j = json_object_get(json_object_get(vectors, "issuers"), name);

	return (struct issuer_setting){ .url = given(j, "url"), .audience = given(j, "audience"),
		.keys = (char *)(uintptr_t)"/etc/gpuhelper/keys.json",
		.max_age = (unsigned)number_of(vectors, "max_age") };
}

static struct found_keys
keys_named(const char *name)
{
	return (struct found_keys){ .text = json_dumps(json_object_get(json_object_get(vectors, "jwks"), name), JSON_COMPACT),
		.fetched = number_of(vectors, "fetched") };
}

static struct found_keys
no_keys(void)
{
	struct found_keys k = { .text = NULL };

	refuse(&k.why, WHY_CONFIG, "there are no keys yet");
	return k;
}

/*
 * Identifies the token with a log and without one. The run without the log sets *why, and counts
 * jansson's allocations.
 */
static int
identify_twice(struct judge_query *a, struct token_check_log *log, struct why *told, struct why *why)
{
	struct token_claims with, without;
	uint32_t issuer[2] = { 0 };
	int rc[2];

	rc[0] = token_identify(a, &issuer[0], &with, log, told);
	json_allocations = 0;
	rc[1] = token_identify(a, &issuer[1], &without, NULL, why);
	if (rc[0] != rc[1] || (rc[0] == 0 && (issuer[0] != issuer[1] || strcmp(with.once, without.once) != 0)))
		ok(false, "explain gives another result: %d and %d", rc[0], rc[1]);
	token_claims_free(&with);
	token_claims_free(&without);
	return rc[1];
}

static bool
signature_held(const struct token_check_log *log)
{
	size_t i;

	for (i = 0; i < log->n; i++)
		if (strcmp(log->check[i].name, "signature") == 0)
			return log->check[i].result == TOKEN_CHECK_OK;
	return false;
}

/* Counts the allocations for a text whose refusal says only that it is no token. */
static unsigned long
allocations_for_none(struct judge_query a)
{
	static char none[] = "a.a.AAAA";
	struct token_check_log log = { .n = 0 };
	struct why told, why;

	a.text = none;
	is_int(identify_twice(&a, &log, &told, &why), -1,
	    "a text of three meaningless parts is refused");
	ok(why.code == WHY_UNSIGNED && strstr(why.text, UNSIGNED) != NULL,
	    "  because no issuer signed it: %s", why.text);
	return json_allocations;
}

static void
test_vectors(void)
{
	struct issuer_setting issuers[] = { issuer_named("a"), issuer_named("b") };
	struct found_keys keys[] = { keys_named("a"), keys_named("b") };
	struct judge_query a = { .verb = JUDGE_TOKEN, .issuer = issuers, .keys = keys, .issuers = 2 };
	const unsigned long least = allocations_for_none(a);
	unsigned held = 0, others = 0, same = 0, parsed = 0, silent = 0;
	const json_t *cases = json_object_get(vectors, "cases"), *c;
	size_t i;

	json_array_foreach(cases, i, c) {
		struct token_check_log log = { .n = 0 };
		struct why told = { 0 }, why = { 0 };

		a.text = given(c, "token");
		a.now = number_of(c, "now");
		if (identify_twice(&a, &log, &told, &why) == 0)
			continue;
		if (log.n > 0 && signature_held(&log)) {
			held++;
			same += strcmp(told.text, why.text) == 0 && told.code == why.code;
			continue;
		}
		/*
		 * signed, but not in a token's form; or signed with another key than the token
		 * names
		 */
		if (json_allocations != least && why.code != WHY_DATA)
			parsed++;
		if (strstr(why.text, UNSIGNED) != NULL) {
			others++;
			silent += json_allocations == least && why.code == WHY_UNSIGNED;
		}
	}
	ok(held > 50 && same == held,
	    "%u signed tokens that are invalid are refused with the same message as by explain "
	    "(%u)", held, same);
	ok(others > 40 && silent == others,
	    "%u tokens that no issuer signed are refused unparsed (%u)", others, silent);
	printf("# %u are signed, by another key than they name\n", parsed);
	free(keys[0].text);
	free(keys[1].text);
}

/* An issuer's missing keys do not affect another issuer's tokens. */
static void
test_missing_keys(void)
{
	const json_t *good = vector("good RS256 r1");
	struct issuer_setting issuers[] = { issuer_named("b"), issuer_named("a") };
	struct found_keys keys[] = { no_keys(), keys_named("a") };
	struct judge_query a = { .verb = JUDGE_TOKEN, .issuer = issuers, .keys = keys, .issuers = 2,
		.text = given(good, "token"), .now = number_of(good, "now") };
	char *forged = strdup(a.text);
	struct token_check_log log = { .n = 0 };
	struct why told, why;

	is_int(identify_twice(&a, &log, &told, &why), 0,
	    "a token is accepted although another issuer has no keys");
	forged[strlen(forged) - 20] = forged[strlen(forged) - 20] == 'A' ? 'B' : 'A';
	a.text = forged;
	is_int(identify_twice(&a, &log, &told, &why), -1,
	    "a forged token is refused while an issuer has no keys");
	is_int(why.code, WHY_UNSIGNED, "  the code is that of any forged token");
	a.issuers = 1;
	is_int(identify_twice(&a, &log, &told, &why), -1,
	    "a token is refused if no issuer has keys");
	is_int(why.code, WHY_CONFIG, "  the code says that the host is at fault");
	is_str(why.text, "there are no keys yet", "  the message says that the keys are missing");
	a.issuers = 0;
	is_int(identify_twice(&a, &log, &told, &why), -1,
	    "a token is refused if there are no issuers");
	is_int(why.code, WHY_CONFIG, "  the code says that the host is at fault");
	free(keys[1].text);
	free(forged);
}

int
main(int argc, char **argv)
{
	json_set_alloc_funcs(counting_malloc, free);
	vectors = fixture(argc, argv, "vectors.json");
	test_vectors();
	test_missing_keys();
	json_decref(vectors);
	return done_testing();
}
