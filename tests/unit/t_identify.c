/*
 * judge/identify.c: whose a token is.  Nothing of a token is parsed before an issuer's key has verified its signature.
 * explain, which reports each check, comes to the same result.  The vectors are t_token.c's.
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

/* The settings, which the questions with them do not change. */
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

/* Both modes; the one without a log sets *why, and counts jansson's allocations. */
static int
identify_twice(struct judge_ask *a, struct token_check_log *log, struct why *told, struct why *why)
{
	struct token_claims with, without;
	uint32_t issuer[2] = { 0 };
	int rc[2];

	rc[0] = token_identify(a, &issuer[0], &with, log, told);
	json_allocations = 0;
	rc[1] = token_identify(a, &issuer[1], &without, NULL, why);
	if (rc[0] != rc[1] || (rc[0] == 0 && (issuer[0] != issuer[1] || strcmp(with.once, without.once) != 0)))
		ok(false, "explain comes to another end: %d and %d", rc[0], rc[1]);
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

/* The refusals that say only that it is no token. */
static unsigned long
allocations_for_none(struct judge_ask a)
{
	static char none[] = "a.a.AAAA";
	struct token_check_log log = { .n = 0 };
	struct why told, why;

	a.text = none;
	is_int(identify_twice(&a, &log, &told, &why), -1, "three parts that are nothing");
	ok(why.code == WHY_DENIED && strstr(why.text, UNSIGNED) != NULL, "  are signed by nobody: %s", why.text);
	return json_allocations;
}

static void
test_vectors(void)
{
	struct issuer_setting issuers[] = { issuer_named("a"), issuer_named("b") };
	struct found_keys keys[] = { keys_named("a"), keys_named("b") };
	struct judge_ask a = { .verb = JUDGE_TOKEN, .issuer = issuers, .keys = keys, .issuers = 2 };
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
		/* signed, but not in a token's form; or signed by a key that the token does not name */
		if (json_allocations != least && why.code != WHY_DATA)
			parsed++;
		if (strstr(why.text, UNSIGNED) != NULL) {
			others++;
			silent += json_allocations == least && why.code == WHY_DENIED;
		}
	}
	ok(held > 50 && same == held, "%u signed tokens that do not hold: refused in the same words (%u)", held, same);
	ok(others > 40 && silent == others, "%u that nobody signed: of none anything is parsed (%u)", others, silent);
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
	struct judge_ask a = { .verb = JUDGE_TOKEN, .issuer = issuers, .keys = keys, .issuers = 2, .text = given(good, "token"),
		.now = number_of(good, "now") };
	char *forged = strdup(a.text);
	struct token_check_log log = { .n = 0 };
	struct why told, why;

	is_int(identify_twice(&a, &log, &told, &why), 0, "taken, though another issuer has no keys");
	forged[strlen(forged) - 20] = forged[strlen(forged) - 20] == 'A' ? 'B' : 'A';
	a.text = forged;
	is_int(identify_twice(&a, &log, &told, &why), -1, "one that may be that issuer's");
	is_int(why.code, WHY_DENIED, "  is refused as any other");
	a.issuers = 1;
	is_int(identify_twice(&a, &log, &told, &why), -1, "where no issuer has keys");
	is_int(why.code, WHY_CONFIG, "  that is the host's fault");
	is_str(why.text, "there are no keys yet", "  who is told so");
	a.issuers = 0;
	is_int(identify_twice(&a, &log, &told, &why), -1, "no issuers at all");
	is_int(why.code, WHY_CONFIG, "  is the host's fault, too");
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
