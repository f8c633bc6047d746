/*
 * Tokens and keys: helper/judge/{token,jwk,base64url}.c.
 *
 * The vectors are in tests/fixtures/jwt: rfc.json from the RFCs, jwks.json and tokens.json as
 * Concourse makes them, and vectors.json from mkvectors.py. Each bad token in it has one fault, and
 * names the check that must find the fault.
 */
#include <stdlib.h>

#include <jansson.h>

#include "../../helper/judge/base64url.h"
#include "../../helper/judge/jwk.h"
#include "../../helper/judge/token.h"
#include "judge/instancevar.h"
#include "jwtvectors.h"
#include "policy/claimsetadd.h"
#include "policy/tokenhash.h"
#include "tap.h"

#define LEAK 16	/* no message may contain this many consecutive characters of a token */

static int args;
static char **arg;

static struct jwks *
keys_of(const json_t *set, int64_t fetched)
{
	char *text = json_dumps(set, JSON_COMPACT);
	struct jwks *s = NULL;
	struct why why;

	if (jwks_parse(text, strlen(text), fetched, &s, &why) != 0)
		printf("# keys: %s\n", why.text);
	free(text);
	return s;
}

/* An issuer of vectors.json, by name, and its keys. */
static struct issuer
issuer_named(const char *name)
{
	const json_t *j = json_object_get(json_object_get(vectors, "issuers"), name);

	return (struct issuer){ .url = text_of(j, "url"), .audience = text_of(j, "audience"),
		.max_age = number_of(vectors, "max_age") };
}

static struct jwks *
keys_named(const char *name)
{
	return keys_of(json_object_get(json_object_get(vectors, "jwks"), name),
	    number_of(vectors, "fetched"));
}

/* Whether the line contains LEAK consecutive characters of the token. */
static bool
leaks(const char *line, const char *token)
{
	size_t i, len = strlen(token);
	char piece[LEAK + 1];

	for (i = 0; i + LEAK <= len; i++) {
		memcpy(piece, token + i, LEAK);
		piece[LEAK] = '\0';
		if (strstr(line, piece) != NULL)
			return true;
	}
	return false;
}

static const char *
first_failed(const struct token_check_log *log)
{
	size_t i;

	for (i = 0; i < log->n; i++)
		if (log->check[i].result == TOKEN_CHECK_FAILED)
			return log->check[i].name;
	return NULL;
}

static enum token_check_result
result_of(const struct token_check_log *log, const char *name)
{
	size_t i;

	for (i = 0; i < log->n; i++)
		if (strcmp(log->check[i].name, name) == 0)
			return log->check[i].result;
	return TOKEN_CHECK_SKIPPED;
}

/* Whether the result is the one that vectors.json expects. Prints the difference. */
static bool
case_holds(const json_t *c, int rc, const struct token_claims *claims, const struct why *why,
    const struct token_check_log *log)
{
	static const struct token_claims none;
	int code = (int)number_of(c, "exit");
	const char *failed = text_of(c, "failed"), *says = text_of(c, "says");
	const char *first = first_failed(log), *token = text_of(c, "token");
	bool good = true;
	size_t i;

	for (i = 0; i < log->n; i++)
		good &= !leaks(log->check[i].text, token);
	if (code == 0)
		return good && rc == 0 && first == NULL && claims->team != NULL &&
		    claims->pipeline != NULL;
	good &= rc == -1 && (int)why->code == code && memcmp(claims, &none, sizeof(none)) == 0;
	good &= first != NULL && failed != NULL && strcmp(first, failed) == 0;
	good &= says == NULL || strstr(why->text, says) != NULL;
	good &= why->text[0] != '\0' && !leaks(why->text, token);
	if (!good)
		printf("# rc %d, code %d, failed %s, text: %s\n", rc, (int)why->code,
		    first != NULL ? first : "none", why->text);
	return good;
}

/*
 * Runs each case twice, with the same result: with a log, which continues after a failure, and
 * without a log.
 */
static void
run_case(const json_t *c, const struct jwks *keys)
{
	struct issuer issuer = issuer_named(text_of(c, "issuer"));
	int64_t now = number_of(c, "now");
	const char *token = text_of(c, "token");
	struct why why = { 0 }, again = { 0 };
	struct token_check_log log;
	struct token_claims claims;
	int rc, rc2;

	rc = token_verify(token, &issuer, keys, now, &claims, &log, &why);
	ok(case_holds(c, rc, &claims, &why, &log), "%s", text_of(c, "name"));
	token_claims_free(&claims);
	rc2 = token_verify(token, &issuer, keys, now, &claims, NULL, &again);
	ok(rc == rc2 && why.code == again.code && strcmp(why.text, again.text) == 0,
	    "%s: the result without a log is the same", text_of(c, "name"));
	token_claims_free(&claims);
}

static void
test_vectors(void)
{
	const json_t *cases = json_object_get(vectors, "cases"), *c;
	struct jwks *keys;
	size_t i;

	ok(json_array_size(cases) > 250, "there are enough vectors");
	json_array_foreach(cases, i, c) {
		keys = keys_named(text_of(c, "jwks"));
		if (ok(keys != NULL, "%s: the keys are read", text_of(c, "name")))
			run_case(c, keys);
		jwks_free(keys);
	}
}

static bool
holds(const struct jwks *keys, const char *text, size_t len, const uint8_t *sig, size_t siglen)
{
	return jwk_verify(jwks_at(keys, 0), (const uint8_t *)text, len, sig, siglen);
}

/* The examples of the RFCs: a signature is valid for its text, and invalid for a changed text. */
static void
test_rfc(void)
{
	json_t *rfc = fixture(args, arg, "rfc.json"), *c, *set;
	const char *name, *token;
	struct issuer joe = { .url = "joe", .audience = "gpuhelper", .max_age = 3600 };
	struct token_check_log log;
	struct token_claims claims;
	struct jwks *keys;
	struct why why;
	uint8_t *sig;
	size_t len, end;
	bool json;

	json_object_foreach(rfc, name, c) {
		token = text_of(c, "token");
		end = (size_t)(strrchr(token, '.') - token);
		set = json_pack("{s:[O]}", "keys", json_object_get(c, "jwk"));
		keys = keys_of(set, 0);
		sig = base64url_decode(token + end + 1, strlen(token + end + 1), &len, &why);
		ok(holds(keys, token, end, sig, len), "%s: the signature is valid", name);
		ok(!holds(keys, token, end - 1, sig, len),
		    "%s: the signature is invalid for a shorter text", name);
		ok(!holds(keys, token, end, sig, len - 1),
		    "%s: a truncated signature is invalid", name);
		free(sig);
		json = strstr(name, "8037") == NULL;
		ok(token_verify(token, &joe, keys, 1300819000, &claims, &log, &why) == -1,
		    "%s: the token is refused as none of ours", name);
		is_str(first_failed(&log), json ? "aud" : "form", name);
		is_int(result_of(&log, "signature"),
		    json ? TOKEN_CHECK_OK : TOKEN_CHECK_SKIPPED, name);
		jwks_free(keys);
		json_decref(set);
	}
	json_decref(rfc);
}

/* Tokens and keys that Concourse itself made. */
static void
test_concourse(void)
{
	static const struct {
		const char *name, *failed;
		int code;
	} want[] = {
		{ "rs256-valid", NULL, 0 }, { "es256-valid", NULL, 0 },
		{ "es256-instanced", NULL, 0 }, { "es256-expired", "exp", 77 },
		{ "es256-wrong-aud", "aud", 77 }, { "alg-none", "alg", 77 },
	};
	struct issuer ci = { "https://ci.example.org", "gpuhelper", 86400, 0, NULL };
	json_t *set = fixture(args, arg, "jwks.json"), *tokens = fixture(args, arg, "tokens.json");
	struct jwks *keys = keys_of(set, 0);
	struct token_check_log log;
	struct token_claims claims;
	struct why why;
	size_t i;
	int rc;

	is_int((long long)jwks_count(keys), 2, "two keys are read");
	for (i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		why.code = WHY_NONE;
		rc = token_verify(text_of(tokens, want[i].name), &ci, keys, 1790007200, &claims,
		    &log, &why);
		is_int(rc == 0 ? 0 : (int)why.code, want[i].code, want[i].name);
		is_str(first_failed(&log), want[i].failed, want[i].name);
		if (rc == 0) {
			is_str(claims.team, "ml", "the team is read");
			is_str(claims.pipeline, "train", "the pipeline is read");
			is_str(claims.job, "fit", "the job is read");
			is_int(claims.iat, 1790000000, "iat is read");
			is_int(claims.exp, 4102444800, "exp is read");
			is_str(instance_var(&claims.instance_vars, "branch"),
			    strcmp(want[i].name, "es256-instanced") == 0 ? "\"feature/x\"" : NULL,
			    "instance_vars.branch is read");
		}
		token_claims_free(&claims);
	}
	jwks_free(keys);
	json_decref(set);
	json_decref(tokens);
}

/* The contents of the claims. Both forms of one ES256 signature count as the same token. */
static void
test_claims(void)
{
	const char *names[] = { "good ES256 first form", "good ES256 second form",
		"good without job", "good with an empty job", "good names in UTF-8",
		"good instance_vars" };
	struct issuer issuer = issuer_named("a");
	struct jwks *keys = keys_named("a");
	struct token_claims c[6];
	struct why why;
	const json_t *v;
	char hash[6][65], hex[65];
	size_t i;

	for (i = 0; i < 6; i++) {
		v = vector(names[i]);
		is_int(token_verify(text_of(v, "token"), &issuer, keys, number_of(v, "now"), &c[i],
		    NULL, &why), 0, names[i]);
		token_hash(text_of(v, "token"), hash[i]);
		is_int((long long)strlen(c[i].once), 64, "«once» is a hash");
	}
	ok(strcmp(hash[0], hash[1]) != 0,
	    "the two forms of one signature have different token hashes");
	is_str(c[0].once, c[1].once, "the two forms of one signature have the same «once»");
	ok(strcmp(c[0].once, c[2].once) != 0, "two tokens have different «once»");
	is_str(c[0].job, "fit", "the job is read");
	is_str(c[2].job, NULL, "a missing job is read as none");
	is_str(c[3].job, NULL, "an empty job is read as none");
	is_str(c[4].team, "gr\303\266\303\237e", "a team in UTF-8 is read");
	is_str(c[4].pipeline, "../a/b\342\200\250\342\200\256",
	    "a pipeline with unusual characters is read unchanged");
	ok(!c[0].instance_vars.there, "missing instance_vars are read as none");
	is_str(instance_var(&c[5].instance_vars, "pr"), "17", "instance_vars.pr is read");
	for (i = 0; i < 6; i++)
		token_claims_free(&c[i]);
	token_claims_free(&c[0]);
	ok(c[0].team == NULL, "the claims can be freed twice");
	token_hash("abc", hex);
	is_str(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
	    "token_hash() is SHA-256");
	jwks_free(keys);
}

/* How many changed tokens are accepted. change() gets the number of the change, from 0. */
static unsigned
taken_when(const char *name, bool (*change)(char *token, size_t n), unsigned *tried)
{
	const json_t *v = vector(name);
	struct issuer issuer = issuer_named("a");
	struct jwks *keys = keys_named("a");
	int64_t now = number_of(v, "now");
	size_t n, len = strlen(text_of(v, "token"));
	struct token_claims claims;
	unsigned taken = 0;
	struct why why;
	char *token = malloc(len + 2);

	*tried = 0;
	for (n = 0;; n++) {
		memcpy(token, text_of(v, "token"), len + 1);
		if (!change(token, n))
			break;
		++*tried;
		if (token_verify(token, &issuer, keys, now, &claims, NULL, &why) == 0)
			taken++;
		token_claims_free(&claims);
	}
	free(token);
	jwks_free(keys);
	return taken;
}

static bool
nothing(char *token, size_t n)
{
	(void)token;
	return n == 0;
}

static bool
truncate_at(char *token, size_t n)
{
	bool go = n < strlen(token);

	token[n] = '\0';
	return go;
}

static bool
flip_bit(char *token, size_t n)
{
	if (n / 8 >= strlen(token))
		return false;
	token[n / 8] = (char)((unsigned char)token[n / 8] ^ 1U << n % 8);
	return true;
}

static bool
drop_byte(char *token, size_t n)
{
	size_t len = strlen(token);

	if (n >= len)
		return false;
	memmove(token + n, token + n + 1, len - n);
	return true;
}

static bool
double_byte(char *token, size_t n)
{
	size_t len = strlen(token);

	if (n >= len)
		return false;
	memmove(token + n + 1, token + n, len - n + 1);
	return true;
}

static bool
insert_space(char *token, size_t n)
{
	if (n > strlen(token))
		return false;
	memmove(token + n + 1, token + n, strlen(token) - n + 1);
	token[n] = " \t\n\r="[n % 5];
	return true;
}

static void
test_damage(void)
{
	static const char *const names[] = { "good ES256 e1", "good RS256 r1", "good EdDSA d1" };
	static const struct {
		const char *what;
		bool (*change)(char *token, size_t n);
		unsigned least;
	} damage[] = {
		{ "truncated at every byte", truncate_at, 300 },
		{ "every bit flipped", flip_bit, 2400 },
		{ "every byte dropped", drop_byte, 300 },
		{ "every byte doubled", double_byte, 300 },
		{ "white space or padding before every byte", insert_space, 300 },
	};
	unsigned taken, tried;
	size_t i, j;

	for (i = 0; i < 3; i++) {
		is_int(taken_when(names[i], nothing, &tried), 1, names[i]);
		for (j = 0; j < sizeof(damage) / sizeof(damage[0]); j++) {
			taken = taken_when(names[i], damage[j].change, &tried);
			ok(taken == 0 && tried >= damage[j].least, "%s, %s: %u of %u are accepted",
			    names[i], damage[j].what, taken, tried);
		}
	}
}

/* Unusable keys beside a usable one: they stay in the set, with the reason, and do no harm. */
static void
test_bad_keys(void)
{
	const json_t *bad = json_object_get(vectors, "bad_keys"), *one;
	const char *name, *says, *reason;
	const struct jwk *k;
	struct jwks *keys;
	struct why why;
	json_t *set;
	char *text;
	size_t i;

	ok(json_array_size(bad) > 45, "there are enough unusable keys");
	json_array_foreach(bad, i, one) {
		name = json_string_value(json_array_get(one, 0));
		says = json_string_value(json_array_get(one, 2));
		set = json_pack("{s:[O,O]}", "keys", json_array_get(one, 1),
		    json_object_get(vectors, "good_key"));
		keys = keys_of(set, 0);
		if (!ok(keys != NULL, "%s: the set is read", name))
			continue;
		k = jwks_find(keys, "bad");
		reason = k != NULL && jwk_unusable(k) != NULL ? jwk_unusable(k) : "taken";
		ok(strstr(reason, says) != NULL, "%s: %s", name, reason);
		ok(k != NULL && jwk_alg(k) == NULL && jwk_bits(k) == 0,
		    "%s: the key has no algorithm",
		    name);
		ok(k != NULL && !jwk_verify(k, (const uint8_t *)"", 0, (const uint8_t *)"", 0),
		    "%s: the key verifies nothing", name);
		is_str(jwk_alg(jwks_at(keys, 1)), "ES256", "the other key is usable");
		jwks_free(keys);
		json_array_remove(json_object_get(set, "keys"), 1);
		text = json_dumps(set, 0);
		ok(jwks_parse(text, strlen(text), 0, &keys, &why) == -1 && keys == NULL &&
		    why.code == WHY_CONFIG, "%s: a set with this key alone is refused", name);
		free(text);
		json_decref(set);
	}
}

static void
test_bad_sets(void)
{
	const json_t *bad = json_object_get(vectors, "bad_sets"), *one;
	const char *name, *text, *says;
	struct jwks *keys;
	struct why why;
	char *big;
	size_t i;

	json_array_foreach(bad, i, one) {
		name = json_string_value(json_array_get(one, 0));
		text = json_string_value(json_array_get(one, 1));
		says = json_string_value(json_array_get(one, 2));
		why = (struct why){ 0 };
		ok(jwks_parse(text, strlen(text), 0, &keys, &why) == -1 && keys == NULL &&
		    why.code == WHY_CONFIG && strstr(why.text, says) != NULL, "%s: %s", name,
		    why.text);
	}
	big = malloc(JWKS_MAX + 2);
	memset(big, '[', JWKS_MAX + 1);
	big[JWKS_MAX + 1] = '\0';
	ok(jwks_parse(big, JWKS_MAX, 0, &keys, &why) == -1 && strstr(why.text, "deeper") != NULL,
	    "a set of brackets alone is refused: %s", why.text);
	ok(jwks_parse(big, JWKS_MAX + 1, 0, &keys, &why) == -1 &&
	    strstr(why.text, "longer") != NULL, "a set that is too long is refused: %s", why.text);
	free(big);
	jwks_free(NULL);
}

static void
test_good_set(void)
{
	struct jwks *keys = keys_named("a");

	is_int((long long)jwks_count(keys), 10, "all keys are read");
	is_int(jwks_fetched(keys), number_of(vectors, "fetched"), "the time of the fetch is kept");
	is_str(jwk_kid(jwks_at(keys, 0)), "r1", "the keys are in order");
	is_str(jwk_alg(jwks_find(keys, "r1")), "RS256", "an RSA key is read");
	is_int(jwk_bits(jwks_find(keys, "r1")), 2048, "the size of the key is read");
	is_str(jwk_alg(jwks_find(keys, "e1")), "ES256", "an EC key is read");
	is_str(jwk_alg(jwks_find(keys, "d1")), "EdDSA", "an OKP key is read");
	ok(jwk_unusable(jwks_find(keys, "d1")) == NULL, "the OKP key is usable");
	ok(jwks_find(keys, "r") == NULL && jwks_find(keys, "") == NULL,
	    "a part of a name finds no key");
	ok(jwks_at(keys, 10) == NULL, "there is no key after the last");
	jwks_free(keys);
}

/* keys_max_age, and issuers with impossible settings. */
static void
test_issuer(void)
{
	static const struct {
		int64_t fetched, limit, now_after;
		int code;
		const char *name;
	} age[] = {
		{ 1790000000, 3600, 3600, 0, "keys at their greatest age" },
		{ 1790000000, 3600, 3601, 78, "keys that are too old" },
		{ 1790000000, 0, 1000000, 0, "keys of any age" },
		{ 0, 3600, 0, 78, "keys of unknown age, with a limit" },
		{ 0, 3600000000, 0, 78, "keys of unknown age, with a high limit" },
		{ 0, 0, 0, 0, "keys of unknown age, without a limit" },
		{ 1790000100, 3600, 0, 0, "keys fetched in the future" },
	};
	json_t *set = fixture(args, arg, "jwks.json"), *tokens = fixture(args, arg, "tokens.json");
	const char *token = text_of(tokens, "es256-valid");
	struct issuer bad[] = { { NULL, "gpuhelper", 60, 0, NULL }, { "x", NULL, 60, 0, NULL },
		{ "x", "", 60, 0, NULL }, { "x", "gpuhelper", 0, 0, NULL }, { "x", "gpuhelper", -1, 0, NULL },
		{ "x", "gpuhelper", 60, -1, NULL } };
	struct issuer ci = { "https://ci.example.org", "gpuhelper", 86400000, 0, NULL };
	struct token_claims claims;
	struct jwks *keys;
	struct why why;
	size_t i;
	int rc;

	for (i = 0; i < sizeof(age) / sizeof(age[0]); i++) {
		ci.keys_max_age = age[i].limit;
		keys = keys_of(set, age[i].fetched);
		rc = token_verify(token, &ci, keys, 1790000000 + age[i].now_after, &claims, NULL,
		    &why);
		is_int(rc == 0 ? 0 : (int)why.code, age[i].code, age[i].name);
		token_claims_free(&claims);
		jwks_free(keys);
	}
	keys = keys_of(set, 0);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		rc = token_verify(token, &bad[i], keys, 1790000000, &claims, NULL, &why);
		ok(rc == -1 && why.code == WHY_CONFIG,
		    "impossible settings are refused: %s", why.text);
	}
	jwks_free(keys);
	json_decref(set);
	json_decref(tokens);
}

static void
test_unverified(void)
{
	static const char *const none[] = { "iss missing", "iss a number", "form: empty",
		"payload: array", "team twice", "payload too deep" };
	const char *forged = text_of(vector("alg none without signature"), "token");
	struct why why;
	char *iss;
	size_t i;

	ok(token_issuer_unverified(forged, &iss, &why) == 0,
	    "the issuer of a forged token is read");
	is_str(iss, "https://ci.example.org",
	    "the issuer of a forged token is the one that it names");
	free(iss);
	ok(token_issuer_unverified(text_of(vector("good other issuer"), "token"), &iss, &why) == 0,
	    "the issuer of another issuer's token is read");
	is_str(iss, "https://ci.example.net", "the other issuer's token names the other issuer");
	free(iss);
	for (i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		ok(token_issuer_unverified(text_of(vector(none[i]), "token"), &iss, &why) == -1 &&
		    iss == NULL && why.code == WHY_DATA, "%s: %s", none[i], why.text);
}

/* A valid token of Concourse, read by other names of its claims. */
static void
test_issuer_claims(void)
{
	const struct {
		struct issuer_claims claims;
		const char *failed;	/* the check that fails; NULL: none */
		const char *team, *pipeline, *says;
	} t[] = {
		{ { .bytes = 0 }, NULL, "ml", "train", NULL },
		{ { .team = (char []){ "pipeline" }, .pipeline = (char []){ "team" }, .job = (char []){ "iss" } }, NULL, "train",
		    "ml", NULL },
		{ { .pipeline = (char []){ "pipeline" } }, "team", NULL, NULL, "\"train\", and should be names with a slash" },
		/* one claim for both: the team is what stands before the first slash */
		{ { .pipeline = (char []){ "sub" } }, NULL, "ml", "train", NULL },
		{ { .pipeline = (char []){ "iss" } }, "team", NULL, NULL, "names with a slash between them" },
		{ { .pipeline = (char []){ "job" } }, "team", NULL, NULL, "\"fit\", and should be names with a slash" },
		{ { .team = (char []){ "sub" }, .pipeline = (char []){ "job" } }, "team", NULL, NULL, "has a slash" },
		{ { .team = (char []){ "Team" } }, "team", NULL, NULL, "no string \"Team\"" },
		{ { .team = (char []){ "iat" } }, "team", NULL, NULL, "no string \"iat\"" },
		{ { .pipeline = (char []){ "aud" } }, "team", NULL, NULL, "no string \"aud\"" },
		{ { .job = (char []){ "exp" } }, "job", NULL, NULL, "\"exp\" is not a string" },
		{ { .job = (char []){ "none" } }, NULL, "ml", "train", NULL },
		{ { .reuse_by = (char []){ "job" } }, NULL, "ml", "train", NULL },
		{ { .reuse_by = (char []){ "iat" } }, NULL, "ml", "train", NULL },
		{ { .reuse_by = (char []){ "none" } }, "reuse_by", NULL, NULL, "\"none\" is not there" },
		{ { .reuse_by = (char []){ "aud" } }, "reuse_by", NULL, NULL, "\"aud\" is a list" },
		{ { .bytes = 100 }, "form", NULL, NULL, "longer than 100 bytes" },
	};
	json_t *set = fixture(args, arg, "jwks.json"), *tokens = fixture(args, arg, "tokens.json");
	const char *token = text_of(tokens, "es256-valid");
	struct jwks *keys = keys_of(set, 1790000000);
	struct issuer ci = { "https://ci.example.org", "gpuhelper", 86400, 0, NULL };
	struct token_check_log log;
	struct token_claims claims;
	struct why why;
	size_t i;

	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		ci.claims = &t[i].claims;
		why = (struct why){ 0 };
		if (token_verify(token, &ci, keys, 1790000100, &claims, &log, &why) == 0)
			ok(t[i].failed == NULL && strcmp(claims.team, t[i].team) == 0 && strcmp(claims.pipeline, t[i].pipeline) == 0,
			    "claims %zu: team %s, pipeline %s", i, claims.team, claims.pipeline);
		else
			ok(t[i].failed != NULL && strcmp(first_failed(&log), t[i].failed) == 0 && strstr(why.text, t[i].says) != NULL,
			    "claims %zu: %s fails: %s", i, first_failed(&log), why.text);
		token_claims_free(&claims);
	}
	jwks_free(keys);
	json_decref(set);
	json_decref(tokens);
}

/* What every token must say, and what the policies ask about. */
static void
test_require(void)
{
	static const struct {
		const char *name, *value, *says;	/* NULL: holds */
	} t[] = {
		{ "job", "\"fit", NULL }, { "iat", "1790000000", NULL },
		{ "job", "\"Fit", "\"job\" is \"fit\", and gpuhelper.conf requires \"Fit\" of this issuer" },
		{ "job", "\"f*", "requires \"f*\"" }, { "iat", "\"1790000000", "is 1790000000, and gpuhelper.conf requires \"1790000000\"" },
		{ "none", "true", "\"none\" is not there" }, { "aud", "\"gpuhelper", "is a list" },
		{ "job", "true", "requires true" },
	};
	json_t *set = fixture(args, arg, "jwks.json"), *tokens = fixture(args, arg, "tokens.json");
	const char *token = text_of(tokens, "es256-valid");
	struct jwks *keys = keys_of(set, 1790000000);
	struct issuer ci = { "https://ci.example.org", "gpuhelper", 86400, 0, NULL };
	char once[2][65];
	struct why why;
	size_t i;
	int rc;

	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct issuer_claims want = { .bytes = 0 };
		struct token_claims claims;

		ok(claim_set_add(&want.require, "team", "\"ml") && claim_set_add(&want.require, t[i].name, t[i].value) &&
		    strlist_add(&want.wanted, "job", SIZE_MAX) && strlist_add(&want.wanted, "none", SIZE_MAX) &&
		    strlist_add(&want.wanted, "aud", SIZE_MAX), "the settings are made");
		ci.claims = &want;
		why = (struct why){ 0 };
		rc = token_verify(token, &ci, keys, 1790000100, &claims, NULL, &why);
		ok(t[i].says == NULL ? rc == 0 : rc == -1 && why.code == WHY_DENIED && strstr(why.text, t[i].says) != NULL,
		    "require %s = %s: %s", t[i].name, t[i].value, why.text);
		if (rc == 0)
			ok(claims.claims.name.n == 3 && strcmp(claim_set_value(&claims.claims, "job"), "\"fit") == 0 &&
			    strcmp(claim_set_value(&claims.claims, "aud"), "list") == 0 && strcmp(claim_set_value(&claims.claims, "none"), "absent") == 0,
			    "  the wanted claims are passed on, and no others");
		token_claims_free(&claims);
		claim_set_free(&want.require);
		strlist_free(&want.wanted);
	}
	/* tokens of one job have one name, and the name depends on the claim */
	for (i = 0; i < 2; i++) {
		struct issuer_claims by = { .reuse_by = i == 0 ? (char []){ "job" } : (char []){ "iat" } };
		struct token_claims claims;

		ci.claims = &by;
		ok(token_verify(token, &ci, keys, 1790000100, &claims, NULL, &why) == 0, "a token that may be used again is valid");
		memcpy(once[i], claims.once, sizeof(once[i]));
		token_claims_free(&claims);
	}
	ok(strcmp(once[0], once[1]) != 0, "its name is that of the claim");
	jwks_free(keys);
	json_decref(set);
	json_decref(tokens);
}

/* explain reports every check, even after the first failure. */
static void
test_log(void)
{
	const json_t *v = vector("aud of another");
	struct issuer issuer = issuer_named("a");
	struct jwks *keys = keys_named("a");
	int64_t now = number_of(v, "now");
	struct token_check_log log;
	struct token_claims claims;
	struct why why;

	(void)token_verify(text_of(v, "token"), &issuer, keys, now + 86400, &claims, &log, &why);
	is_int((long long)log.n, 18, "every check has a line");
	is_int(result_of(&log, "signature"), TOKEN_CHECK_OK, "the signature is valid");
	is_int(result_of(&log, "aud"), TOKEN_CHECK_FAILED, "aud fails");
	is_int(result_of(&log, "exp"), TOKEN_CHECK_FAILED, "exp fails, too");
	is_int(result_of(&log, "max_age"), TOKEN_CHECK_FAILED, "max_age fails, too");
	is_int(result_of(&log, "team"), TOKEN_CHECK_OK, "team succeeds");
	ok(strstr(why.text, "sts.amazonaws.com") != NULL,
	    "the first failure is the reason: %s", why.text);
	v = vector("kid unknown");
	(void)token_verify(text_of(v, "token"), &issuer, keys, now, &claims, &log, &why);
	is_int(result_of(&log, "kid"), TOKEN_CHECK_FAILED, "kid fails");
	is_int(result_of(&log, "alg"), TOKEN_CHECK_SKIPPED, "alg is skipped");
	is_int(result_of(&log, "signature"), TOKEN_CHECK_SKIPPED, "the signature is skipped");
	is_int(result_of(&log, "aud"), TOKEN_CHECK_OK, "aud is checked");
	v = vector("form: two parts");
	(void)token_verify(text_of(v, "token"), &issuer, keys, now, &claims, &log, &why);
	is_int((long long)log.n, 18, "every check has a line");
	is_int(result_of(&log, "team"), TOKEN_CHECK_SKIPPED,
	    "team is skipped for a malformed token");
	jwks_free(keys);
}

static void
test_base64url(void)
{
	static const struct {
		const char *text, *bytes;	/* bytes NULL: refused */
	} c[] = {
		{ "", "" }, { "Zg", "f" }, { "Zm8", "fo" }, { "Zm9v", "foo" }, { "Zm9vYg", "foob" },
		{ "-_-_", "\xfb\xff\xbf" }, { "Zg==", NULL }, { "Zg=", NULL }, { "Z", NULL },
		{ "Zm9vY", NULL }, { "Zh", NULL }, { "Zm9", NULL }, { "+/+/", NULL },
		{ "Zm9v\n", NULL }, { "Z g", NULL }, { "=", NULL }, { "Zm9v=", NULL },
		{ "\xc3\xa4mmm", NULL }, { "Zm.v", NULL },
	};
	struct why why;
	uint8_t *got;
	size_t i, len = 0;

	for (i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		got = base64url_decode(c[i].text, strlen(c[i].text), &len, &why);
		if (c[i].bytes == NULL)
			ok(got == NULL && why.code == WHY_DATA,
			    "base64url: case %zu is refused", i);
		else
			ok(got != NULL && len == strlen(c[i].bytes) && memcmp(got, c[i].bytes,
			    len + 1) == 0, "base64url: case %zu is decoded", i);
		free(got);
	}
	ok(base64url_decode("Zm9v", SIZE_MAX / 8, &len, &why) == NULL,
	    "base64url: an impossible length is refused");
}

/* How many of jansson's allocations still succeed. */
static long memory_left;

static void *
scarce_malloc(size_t size)
{
	return memory_left-- == 0 ? NULL : malloc(size);
}

/*
 * If jansson has no memory for a character of a string, it drops the character and goes on. So lack
 * of memory must end in a refusal that says so, and never in other claims.
 */
static void
test_memory(void)
{
	const json_t *v = vector("good instance_vars");
	struct issuer issuer = issuer_named("a");
	struct jwks *keys = keys_named("a");
	unsigned refused = 0, wrong = 0;
	struct token_claims claims;
	struct why why;
	long n;
	int rc;

	for (n = 0; n < 1000; n++) {
		memory_left = n;
		json_set_alloc_funcs(scarce_malloc, free);
		rc = token_verify(text_of(v, "token"), &issuer, keys, number_of(v, "now"), &claims,
		    NULL, &why);
		json_set_alloc_funcs(malloc, free);
		if (rc != 0) {
			refused++;
			wrong += why.code != WHY_BUG;
		} else
			wrong += strcmp(claims.pipeline, "train") != 0 ||
			    strcmp(instance_var(&claims.instance_vars, "pr"), "17") != 0;
		token_claims_free(&claims);
		if (memory_left >= 0)
			break;
	}
	ok(n > 50 && n < 1000 && refused > 50,
	    "%u of %ld failing allocations are refused", refused, n);
	is_int(wrong, 0, "each of these refusals gives lack of memory as the reason");
	jwks_free(keys);
}

int
main(int argc, char **argv)
{
	args = argc;
	arg = argv;
	vectors = fixture(args, arg, "vectors.json");
	test_base64url();
	test_rfc();
	test_concourse();
	test_vectors();
	test_claims();
	test_damage();
	test_good_set();
	test_bad_keys();
	test_bad_sets();
	test_issuer();
	test_unverified();
	test_issuer_claims();
	test_require();
	test_log();
	test_memory();
	json_decref(vectors);
	return done_testing();
}
