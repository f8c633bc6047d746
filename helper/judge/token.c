/*
 * See token.h. The author of a pull request may have written any part of the token; the issuer and its keys are root's.
 * Must never let the token choose how it is verified: its «alg» is compared with the key's, and its «jwk», «jku» and
 * «x5c» are ignored. Does not read «sub», whose form the pipeline's author may choose (Concourse's subject_scope):
 * other claims name the pipeline, each as a whole. Must never fill *out unless every check has passed, and never put
 * the token into a message.
 */
#include "token.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <nettle/base16.h>
#include <nettle/sha2.h>

#include "../base/cleanup.h"
#include "../base/text.h"
#include "../json/strictjson.h"
#include "../policy/tokenhash.h"
#include "../policy/varsjson.h"
#include "base64url.h"
#include "issuerclaims.h"

/* JSON readers disagree on numbers beyond 2^53-1 (RFC 8259, 6). */
#define DATE_MAX 9007199254740991

/* The state of a token during the checks. */
struct token_checks {
	const char *token;
	const struct issuer *issuer;
	const struct jwks *jwks;
	int64_t now;
	size_t most;		/* bytes that the token may have */
	size_t header_len, signed_len;	/* of token: header, header "." payload */
	uint8_t *sig;
	size_t siglen;
	json_t *header, *payload;
	const struct jwk *key;	/* the key that the token names; NULL until check_kid() */
	const struct issuer_claims *claims;
	struct claimed_names names;	/* of the payload, once their checks have passed */
	char note[192];		/* the line of a check that passed */
};

static void
ctx_free(struct token_checks *c)
{
	free(c->sig);
	json_decref(c->header);
	json_decref(c->payload);
}

/* A value of the token, short and printable, for a message. */
struct shown {
	char s[72];
};

static struct shown
make_shown(const char *s)
{
	struct shown out = { "" };

	text_printable(out.s, sizeof(out.s), s);
	return out;
}

/* a - b, cut to the ends of the range instead of an overflow: the clock may be anything. */
static int64_t
minus(int64_t a, int64_t b)
{
	int64_t d;

	if (__builtin_sub_overflow(a, b, &d))
		return a < b ? INT64_MIN : INT64_MAX;
	return d;
}

/* A duration for a person to read. */
static struct shown
show_duration(int64_t s)
{
	static const struct {
		int64_t unit, from;
		const char *name;
	} scale[] = {
		{ 86400, 172800, "d" }, { 3600, 7200, "h" }, { 60, 120, "min" }, { 1, 0, "s" },
	};
	struct shown out;
	size_t i = 0;

	if (s < 0)
		s = 0;
	while (s < scale[i].from)
		i++;
	snprintf(out.s, sizeof(out.s), "%lld %s", (long long)(s / scale[i].unit), scale[i].name);
	return out;
}

static json_t *
part_json(const char *part, size_t len, const char *name, struct why *why)
{
	autofree uint8_t *bytes = NULL;
	json_t *j = NULL;
	size_t n;

	if ((bytes = base64url_decode(part, len, &n, why)) != NULL)
		j = strictjson_object((const char *)bytes, n, why);
	if (j == NULL)
		refuse_within(why, name);
	return j;
}

/* Splits the token into its parts. Decodes only the signature. */
static int
split_token(struct token_checks *c, struct why *why)
{
	size_t len = strnlen(c->token, c->most + 1);
	const char *dot1, *dot2;

	if (len > c->most)
		return refuse(why, WHY_DATA, "the token is longer than %zu bytes (token_bytes of its issuers entry in "
		    "gpuhelper.conf)", c->most);
	if ((dot1 = strchr(c->token, '.')) == NULL || (dot2 = strchr(dot1 + 1, '.')) == NULL ||
	    strchr(dot2 + 1, '.') != NULL)
		return refuse(why, WHY_DATA, "the token is not three parts with dots between them "
		    "(a compact JWS)");
	c->header_len = (size_t)(dot1 - c->token);
	c->signed_len = (size_t)(dot2 - c->token);
	c->sig = base64url_decode(dot2 + 1, len - c->signed_len - 1, &c->siglen, why);
	return c->sig != NULL ? 0 : refuse_within(why, "the token's signature");
}

/* Decodes header and payload, which most of the other checks need. */
static int
check_form(struct token_checks *c, struct why *why)
{
	const char *payload;

	if (split_token(c, why) == -1)
		return -1;
	c->header = part_json(c->token, c->header_len, "the token's header", why);
	if (c->header == NULL)
		return -1;
	payload = c->token + c->header_len + 1;
	c->payload = part_json(payload, c->signed_len - c->header_len - 1, "the token's payload", why);
	if (c->payload == NULL)
		return -1;
	snprintf(c->note, sizeof(c->note), "a compact JWS of %zu bytes", strlen(c->token));
	return 0;
}

/* A verifier must refuse extensions that it does not know (RFC 7515, 4.1.11). This one knows none. */
static int
check_crit(struct token_checks *c, struct why *why)
{
	if (json_object_get(c->header, "crit") != NULL)
		return refuse(why, WHY_DENIED, "the token's header has \"crit\": no extension is "
		    "known here");
	/* RFC 7797: «b64» changes what is signed, which would go unnoticed without crit */
	if (json_object_get(c->header, "b64") != NULL)
		return refuse(why, WHY_DENIED, "the token's header has \"b64\", which is not "
		    "supported");
	snprintf(c->note, sizeof(c->note), "no extensions");
	return 0;
}

/* Says when the keys were fetched ("fetched 3 h ago"). */
static struct shown
show_fetched(const struct token_checks *c)
{
	int64_t at = jwks_fetched(c->jwks);
	struct shown out;

	if (at == 0)
		snprintf(out.s, sizeof(out.s), "fetched at an unknown time");
	else
		snprintf(out.s, sizeof(out.s), "fetched %.32s ago",
		    show_duration(minus(c->now, at)).s);
	return out;
}

static int
check_keys_age(struct token_checks *c, struct why *why)
{
	int64_t limit = c->issuer->keys_max_age, at = jwks_fetched(c->jwks);

	if (limit > 0 && (at == 0 || minus(c->now, at) > limit))
		return refuse(why, WHY_CONFIG, "the keys of %s were %s, keys_max_age is %s: fetch "
		    "them again", c->issuer->url, show_fetched(c).s, show_duration(limit).s);
	snprintf(c->note, sizeof(c->note), "%zu, %s", jwks_count(c->jwks), show_fetched(c).s);
	return 0;
}

/* A key's name in messages. */
static struct shown
show_key(const struct jwk *k)
{
	struct shown out;

	if (jwk_kid(k) == NULL)
		snprintf(out.s, sizeof(out.s), "the only key");
	else
		snprintf(out.s, sizeof(out.s), "key \"%.60s\"", make_shown(jwk_kid(k)).s);
	return out;
}

static int
check_kid(struct token_checks *c, struct why *why)
{
	const json_t *kid = json_object_get(c->header, "kid");
	const struct jwk *only = jwks_count(c->jwks) == 1 ? jwks_at(c->jwks, 0) : NULL, *k;

	if (kid != NULL && !json_is_string(kid))
		return refuse(why, WHY_DATA, "the token's \"kid\" is not a string");
	if (kid == NULL && only == NULL)
		return refuse(why, WHY_DENIED, "the token has no \"kid\", and %s has %zu keys",
		    c->issuer->url, jwks_count(c->jwks));
	k = kid == NULL ? only : jwks_find(c->jwks, json_string_value(kid));
	if (k == NULL && only != NULL && jwk_kid(only) == NULL)
		k = only;
	if (k == NULL)
		return refuse(why, WHY_DENIED, "the token's key \"%s\" is not among those of %s, "
		    "%s: if they have changed since, fetch them again",
		    make_shown(json_string_value(kid)).s, c->issuer->url, show_fetched(c).s);
	if (jwk_unusable(k) != NULL)
		return refuse(why, WHY_CONFIG, "%s of %s can't be used: %s", show_key(k).s,
		    c->issuer->url, jwk_unusable(k));
	c->key = k;
	snprintf(c->note, sizeof(c->note), "%s: %s, %u bits", show_key(k).s, jwk_alg(k),
	    jwk_bits(k));
	return 0;
}

/* The key decides the algorithm. The header must name the same, and decides nothing. */
static int
check_alg(struct token_checks *c, struct why *why)
{
	const char *alg = json_string_value(json_object_get(c->header, "alg"));

	if (alg == NULL)
		return refuse(why, WHY_DATA, "the token's header has no string \"alg\"");
	if (strcmp(alg, jwk_alg(c->key)) != 0)
		return refuse(why, WHY_DENIED, "the token says \"alg\" is \"%s\", but %s of %s is "
		    "for %s", make_shown(alg).s, show_key(c->key).s, c->issuer->url, jwk_alg(c->key));
	snprintf(c->note, sizeof(c->note), "%s", alg);
	return 0;
}

static int
check_signature(struct token_checks *c, struct why *why)
{
	if (!jwk_verify(c->key, (const uint8_t *)c->token, c->signed_len, c->sig, c->siglen))
		return refuse(why, WHY_DENIED, "the token's signature does not hold: it was "
		    "changed, or not signed by %s of %s", show_key(c->key).s, c->issuer->url);
	snprintf(c->note, sizeof(c->note), "holds");
	return 0;
}

/* A claim that must be present and a string. NULL with *why otherwise. */
static const char *
claim_string(const struct token_checks *c, const char *name, struct why *why)
{
	const char *s = json_string_value(json_object_get(c->payload, name));

	if (s == NULL)
		refuse(why, WHY_DATA, "the token has no string \"%s\"", name);
	return s;
}

static int
check_iss(struct token_checks *c, struct why *why)
{
	const char *iss = claim_string(c, "iss", why);

	if (iss == NULL)
		return -1;
	if (strcmp(iss, c->issuer->url) != 0)
		return refuse(why, WHY_DENIED, "the token's issuer is \"%s\", not \"%s\"",
		    make_shown(iss).s, c->issuer->url);
	snprintf(c->note, sizeof(c->note), "%s", iss);
	return 0;
}

/* «aud» is one string, or an array of them (RFC 7519, 4.1.3). */
static int
check_aud(struct token_checks *c, struct why *why)
{
	json_t *aud = json_object_get(c->payload, "aud"), *one;
	const char *first = json_string_value(aud), *s;
	bool found = first != NULL && strcmp(first, c->issuer->audience) == 0;
	size_t i;

	if (!json_is_string(aud) && !json_is_array(aud))
		return refuse(why, WHY_DATA, "the token's \"aud\" is neither a string nor an "
		    "array");
	json_array_foreach(aud, i, one) {
		if ((s = json_string_value(one)) == NULL)
			return refuse(why, WHY_DATA, "the token's \"aud\" is not all strings");
		found |= strcmp(s, c->issuer->audience) == 0;
		first = first != NULL ? first : s;
	}
	if (!found)
		return refuse(why, WHY_DENIED, "the token is for \"%s\"%s, not for \"%s\": set "
		    "«audience» of the pipeline's idtoken var source",
		    make_shown(first != NULL ? first : "").s,
		    json_array_size(aud) > 1 ? " and others" : "", c->issuer->audience);
	snprintf(c->note, sizeof(c->note), "%s", c->issuer->audience);
	return 0;
}

/*
 * Reads a claim that is a date. Returns 0, 1 if it is absent, or -1 with *why if it is not a whole number in
 * range.
 */
static int
claim_date(const struct token_checks *c, const char *name, int64_t *date, struct why *why)
{
	const json_t *j = json_object_get(c->payload, name);

	if (j == NULL)
		return 1;
	if (!json_is_integer(j))
		return refuse(why, WHY_DATA, "the token's \"%s\" is not a whole number", name);
	*date = json_integer_value(j);
	if (*date < 0 || *date > DATE_MAX)
		return refuse(why, WHY_DATA, "the token's \"%s\" is not within 0 .. 2^53-1", name);
	return 0;
}

/* The same for a date that must be present. Returns 0 or -1. */
static int
need_date(const struct token_checks *c, const char *name, int64_t *date, struct why *why)
{
	int rc = claim_date(c, name, date, why);

	return rc == 1 ? refuse(why, WHY_DATA, "the token has no \"%s\"", name) : rc;
}

static int
check_exp(struct token_checks *c, struct why *why)
{
	int64_t exp;

	if (need_date(c, "exp", &exp, why) != 0)
		return -1;
	/* a token has expired from exp on (RFC 7519, 4.1.4), so with the leeway from exp + 60 on */
	if (minus(c->now, exp) >= TOKEN_LEEWAY)
		return refuse(why, WHY_DENIED, "the token expired %s ago: each step needs a new "
		    "one", show_duration(minus(c->now, exp)).s);
	snprintf(c->note, sizeof(c->note), "in %s", show_duration(minus(exp, c->now)).s);
	return 0;
}

static int
check_nbf(struct token_checks *c, struct why *why)
{
	int64_t nbf = 0;
	int rc = claim_date(c, "nbf", &nbf, why);

	if (rc < 0)
		return -1;
	if (rc == 0 && minus(nbf, c->now) > TOKEN_LEEWAY)
		return refuse(why, WHY_DENIED, "the token is not valid before %s from now (nbf): "
		    "compare the clocks", show_duration(minus(nbf, c->now)).s);
	snprintf(c->note, sizeof(c->note), rc == 1 ? "not there, need not be" : "has passed");
	return 0;
}

static int
check_iat(struct token_checks *c, struct why *why)
{
	int64_t iat;

	if (need_date(c, "iat", &iat, why) != 0)
		return -1;
	if (minus(iat, c->now) > TOKEN_LEEWAY)
		return refuse(why, WHY_DENIED, "the token was issued %s in the future: compare "
		    "the clocks", show_duration(minus(iat, c->now)).s);
	snprintf(c->note, sizeof(c->note), "%s ago", show_duration(minus(c->now, iat)).s);
	return 0;
}

/*
 * In Concourse the pipeline's author chooses exp. max_age lets this host limit how long a leaked token is of
 * use.
 */
static int
check_max_age(struct token_checks *c, struct why *why)
{
	int64_t iat, limit = c->issuer->max_age;

	if (need_date(c, "iat", &iat, why) != 0)
		return -1;
	if (minus(c->now, iat) > limit)
		return refuse(why, WHY_DENIED, "the token was issued %s ago, max_age is %s: each "
		    "step needs a new one (is Concourse's secret cache on?)",
		    show_duration(minus(c->now, iat)).s, show_duration(limit).s);
	snprintf(c->note, sizeof(c->note), "at most %s", show_duration(limit).s);
	return 0;
}

static int
check_team(struct token_checks *c, struct why *why)
{
	if (claimed_team(c->payload, c->claims, &c->names, why) == -1)
		return -1;
	snprintf(c->note, sizeof(c->note), "%.*s", c->names.team_len, c->names.team);
	return 0;
}

/* After check_team(). */
static int
check_pipeline(struct token_checks *c, struct why *why)
{
	if (claimed_pipeline(c->payload, c->claims, &c->names, why) == -1)
		return -1;
	snprintf(c->note, sizeof(c->note), "%s", c->names.pipeline);
	return 0;
}

static int
check_job(struct token_checks *c, struct why *why)
{
	if (claimed_job(c->payload, c->claims, &c->names, why) == -1)
		return -1;
	snprintf(c->note, sizeof(c->note), "%s", c->names.job != NULL ? c->names.job : "none");
	return 0;
}

static int
check_instance_vars(struct token_checks *c, struct why *why)
{
	const json_t *vars = json_object_get(c->payload, "instance_vars");
	autofree char *text = NULL;

	if (vars != NULL && !json_is_object(vars))
		return refuse(why, WHY_DATA, "the token's \"instance_vars\" is not an object");
	if (vars != NULL && (text = json_dumps(vars, JSON_COMPACT | JSON_SORT_KEYS)) == NULL)
		return refuse_nomem(why);
	snprintf(c->note, sizeof(c->note), "%s", text != NULL ? text : "none");
	return 0;
}

static int
check_require(struct token_checks *c, struct why *why)
{
	snprintf(c->note, sizeof(c->note), c->claims->require.name.n == 0 ? "nothing" : "holds");
	return claims_hold(c->payload, c->claims, why);
}

static int
check_reuse_by(struct token_checks *c, struct why *why)
{
	char is[80] = "no";

	if (c->claims->reuse_by != NULL && claims_turn(c->payload, c->claims, is, why) == -1)
		return -1;
	snprintf(c->note, sizeof(c->note), "%s", is);
	return 0;
}

enum {
	FORM, CRIT, KEYS, KID, ALG, SIGNATURE, ISS, AUD, EXP, NBF, IAT, MAX_AGE, TEAM, PIPELINE,
	JOB, INSTANCE_VARS, REQUIRE, REUSE_BY, CHECKS
};

_Static_assert(CHECKS <= TOKEN_CHECKS_MAX, "the log has room for every check");

#define NEEDS(check) (1U << (check))

static const struct {
	const char *name;
	int (*run)(struct token_checks *c, struct why *why);
	unsigned needs;		/* the checks that must pass before this one is made */
} checks[CHECKS] = {
	[FORM] = { "form", check_form, 0 },
	[CRIT] = { "crit", check_crit, NEEDS(FORM) },
	[KEYS] = { "keys", check_keys_age, 0 },
	[KID] = { "kid", check_kid, NEEDS(FORM) },
	[ALG] = { "alg", check_alg, NEEDS(FORM) | NEEDS(KID) },
	[SIGNATURE] = { "signature", check_signature, NEEDS(FORM) | NEEDS(KID) | NEEDS(ALG) },
	[ISS] = { "iss", check_iss, NEEDS(FORM) },
	[AUD] = { "aud", check_aud, NEEDS(FORM) },
	[EXP] = { "exp", check_exp, NEEDS(FORM) },
	[NBF] = { "nbf", check_nbf, NEEDS(FORM) },
	[IAT] = { "iat", check_iat, NEEDS(FORM) },
	[MAX_AGE] = { "max_age", check_max_age, NEEDS(FORM) | NEEDS(IAT) },
	[TEAM] = { "team", check_team, NEEDS(FORM) },
	[PIPELINE] = { "pipeline", check_pipeline, NEEDS(FORM) | NEEDS(TEAM) },
	[JOB] = { "job", check_job, NEEDS(FORM) },
	[INSTANCE_VARS] = { "instance_vars", check_instance_vars, NEEDS(FORM) },
	[REQUIRE] = { "require", check_require, NEEDS(FORM) },
	[REUSE_BY] = { "reuse_by", check_reuse_by, NEEDS(FORM) },
};

static void
log_add(struct token_check_log *log, const char *name, enum token_check_result result,
    const char *text)
{
	if (log == NULL)
		return;
	log->check[log->n].name = name;
	log->check[log->n].result = result;
	text_printable(log->check[log->n].text, sizeof(log->check[log->n].text), text);
	log->n++;
}

/* True only if every check has passed. Otherwise *why says why the first one failed. */
static bool
all_hold(struct token_checks *c, struct token_check_log *log, struct why *why)
{
	unsigned held = 0;
	bool failed = false;
	struct why here;
	size_t i;

	for (i = 0; i < CHECKS; i++) {
		if ((checks[i].needs & held) != checks[i].needs) {
			log_add(log, checks[i].name, TOKEN_CHECK_SKIPPED,
			    "not made: a check that it needs failed");
			continue;
		}
		c->note[0] = '\0';
		if (checks[i].run(c, &here) == 0) {
			held |= 1U << i;
			log_add(log, checks[i].name, TOKEN_CHECK_OK, c->note);
			continue;
		}
		log_add(log, checks[i].name, TOKEN_CHECK_FAILED, here.text);
		if (!failed)
			*why = here;
		failed = true;
		if (log == NULL || here.code == WHY_BUG)
			break;
	}
	return held == (1U << CHECKS) - 1;
}

static bool
take_names(const struct token_checks *c, struct token_claims *out)
{
	const struct claimed_names *n = &c->names;

	out->team = strndup(n->team, (size_t)n->team_len);
	out->pipeline = strdup(n->pipeline);
	out->job = n->job != NULL ? strdup(n->job) : NULL;
	return out->team != NULL && out->pipeline != NULL && (n->job == NULL || out->job != NULL);
}

/* Names the token or, with reuse_by, the tokens that take turns. False if memory is short. */
static bool
take_once(struct token_checks *c, char once[HASH_SIZE])
{
	uint8_t digest[SHA256_DIGEST_SIZE];
	struct sha256_ctx ctx;

	sha256_init(&ctx);
	if (c->claims->reuse_by != NULL) {
		if (!claims_turn_add(c->payload, c->claims, &ctx))
			return false;
	} else {
		jwk_signature_normalise(c->key, c->sig, c->siglen);
		sha256_update(&ctx, c->signed_len, (const uint8_t *)c->token);
		sha256_update(&ctx, c->siglen, c->sig);
	}
	sha256_digest(&ctx, sizeof(digest), digest);
	base16_encode_update(once, sizeof(digest), digest);
	once[64] = '\0';
	return true;
}

static int
take_claims(struct token_checks *c, struct token_claims *out, struct why *why)
{
	if (need_date(c, "iat", &out->iat, why) != 0 || need_date(c, "exp", &out->exp, why) != 0)
		return -1;
	if (take_names(c, out) && instance_vars_of(json_object_get(c->payload, "instance_vars"), &out->instance_vars) &&
	    claims_wanted(c->payload, c->claims, &out->claims) && take_once(c, out->once))
		return 0;
	token_claims_free(out);
	return refuse_nomem(why);
}

int
token_verify(const char *token, const struct issuer *issuer, const struct jwks *jwks,
    int64_t now, struct token_claims *out, struct token_check_log *log, struct why *why)
{
	static const struct issuer_claims concourses;
	const struct issuer_claims *claims = issuer->claims != NULL ? issuer->claims : &concourses;
	struct token_checks c = { .token = token, .issuer = issuer, .jwks = jwks, .now = now, .claims = claims,
		.most = token_bytes(claims) };
	int rc = -1;

	*out = (struct token_claims){ 0 };
	if (log != NULL)
		log->n = 0;
	if (issuer->url == NULL || issuer->audience == NULL || *issuer->audience == '\0' ||
	    issuer->max_age <= 0 || issuer->keys_max_age < 0)
		return refuse(why, WHY_CONFIG, "issuer %s: its audience, max_age or keys_max_age "
		    "is missing or out of range",
		    issuer->url != NULL ? issuer->url : "without url");
	if (all_hold(&c, log, why))
		rc = take_claims(&c, out, why);
	ctx_free(&c);
	return rc;
}

size_t
token_bytes(const struct issuer_claims *c)
{
	return c->bytes == 0 ? TOKEN_BYTES : c->bytes < TOKEN_MAX ? c->bytes : TOKEN_MAX;
}

static bool
is_signed_by(const struct token_checks *c, const struct jwks *keys)
{
	const struct jwk *k;
	size_t i;

	for (i = 0; keys != NULL && (k = jwks_at(keys, i)) != NULL; i++)
		if (jwk_verify(k, (const uint8_t *)c->token, c->signed_len, c->sig, c->siglen))
			return true;
	return false;
}

int
token_signed(const char *token, size_t most, struct jwks *const keys[], size_t sets, bool *by_any, struct why *why)
{
	struct token_checks c = { .token = token, .most = most };
	int rc = split_token(&c, why);
	size_t i;

	*by_any = false;
	for (i = 0; rc == 0 && i < sets && !*by_any; i++)
		*by_any = is_signed_by(&c, keys[i]);
	ctx_free(&c);
	return rc;
}

int
token_issuer_unverified(const char *token, char **iss, struct why *why)
{
	struct token_checks c = { .token = token, .most = TOKEN_MAX };
	const char *s;
	int rc = -1;

	*iss = NULL;
	if (check_form(&c, why) == 0 && (s = claim_string(&c, "iss", why)) != NULL) {
		if ((*iss = strdup(s)) != NULL)
			rc = 0;
		else
			refuse_nomem(why);
	}
	ctx_free(&c);
	return rc;
}
