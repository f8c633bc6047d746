/*
 * libFuzzer entry for helper/judge/{token,jwk,base64url}.c.
 *
 * An input is one of three: a JWKS (begins with «{»), «!HEADER LF PAYLOAD LF SIGNATURE» whose first two parts this
 * program encodes, or a token.
 *
 * No input may crash it, leak memory, or be a forgery: this program has no secret key, so an accepted token must have
 * the header and payload of one of the known good tokens.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>
#include <nettle/base64.h>

#include "../../helper/base/text.h"
#include "../../helper/judge/jwk.h"
#include "../../helper/judge/token.h"
#include "fuzz.h"
#include "policy/tokenhash.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);

#define INPUT_MAX (300 * 1024)

static json_t *vectors;
static struct jwks *keys;
static struct issuer issuer;
static int64_t now;

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const char *dir = getenv("TESTS_DIR");
	json_t *a;
	char path[512], *text;
	struct why why;

	(void)argc;
	(void)argv;
	snprintf(path, sizeof(path), "%s/fixtures/jwt/vectors.json", dir != NULL ? dir : "tests");
	if ((vectors = json_load_file(path, 0, NULL)) == NULL) {
		fprintf(stderr, "%s: not there; set TESTS_DIR\n", path);
		exit(1);
	}
	text = json_dumps(json_object_get(json_object_get(vectors, "jwks"), "a"), 0);
	if (jwks_parse(text, strlen(text), 1, &keys, &why) != 0)
		abort();
	free(text);
	a = json_object_get(json_object_get(vectors, "issuers"), "a");
	issuer.url = json_string_value(json_object_get(a, "url"));
	issuer.audience = json_string_value(json_object_get(a, "audience"));
	issuer.max_age = 3600;
	now = json_integer_value(json_object_get(vectors, "fetched")) + 7200;
	return 0;
}

/* Whether a token with this header and payload is among the good ones. */
static int
is_known(const char *token)
{
	const json_t *cases = json_object_get(vectors, "cases"), *c;
	const char *dot = strrchr(token, '.'), *good;
	size_t i;

	json_array_foreach(cases, i, c) {
		good = json_string_value(json_object_get(c, "token"));
		if (json_integer_value(json_object_get(c, "exit")) == 0 &&
		    strncmp(good, token, (size_t)(dot - token) + 1) == 0)
			return 1;
	}
	return 0;
}

/* The same token by other names of its claims: what is accepted names one pipeline in one way. */
static void
try_other_names(const char *token, struct jwks *with)
{
	struct issuer_claims other[] = { { .pipeline = (char []){ "sub" }, .reuse_by = (char []){ "job" } },
		{ .team = (char []){ "job" }, .pipeline = (char []){ "team" }, .job = (char []){ "pipeline" }, .bytes = TOKEN_MAX } };
	struct issuer named = issuer;
	struct token_claims claims;
	struct why why = { 0 };
	size_t i;

	for (i = 0; i < sizeof(other) / sizeof(other[0]); i++) {
		named.claims = &other[i];
		if (!strlist_add(&other[i].wanted, "instance_vars", SIZE_MAX) || !strlist_add(&other[i].wanted, "x", SIZE_MAX))
			abort();
		if (token_verify(token, &named, with, now, &claims, NULL, &why) == 0 &&
		    (strchr(claims.team, '/') != NULL || *claims.team == '\0' || *claims.pipeline == '\0' ||
		    claims.claims.name.n != 2 || strlen(claims.once) != 64))
			abort();
		token_claims_free(&claims);
		strlist_free(&other[i].wanted);
	}
}

static void
try_token(const char *token, struct jwks *with)
{
	bool by_any;
	struct token_check_log log;
	struct token_claims claims, again;
	struct why why = { 0 };
	char *iss;
	int rc;

	if (token_issuer_unverified(token, &iss, &why) == 0)
		free(iss);
	if (token_signed(token, TOKEN_MAX, &with, 1, &by_any, &why) == -1)
		by_any = false;
	rc = token_verify(token, &issuer, with, now, &claims, &log, &why);
	/* a token that would be accepted is not refused for that */
	if (rc == 0 && !by_any)
		abort();
	if (rc != token_verify(token, &issuer, with, now, &again, NULL, &why))
		abort();
	if (rc == 0 && (!is_known(token) || claims.team == NULL || claims.pipeline == NULL))
		abort();
	if (rc != 0 && (why.code == WHY_NONE || why.code == WHY_BUG || !text_is_utf8(why.text,
	    strlen(why.text))))
		abort();
	token_claims_free(&claims);
	token_claims_free(&again);
	try_other_names(token, with);
}

/*
 * Keys made by the fuzzer, and tokens signed with others.  What unknown keys accept
 * proves nothing, so only the good tokens are tried with them.
 */
static void
try_keys(const char *text, size_t len)
{
	static const char *const good[] = { "good RS256 r1", "good ES256 e1", "good EdDSA d1" };
	const json_t *cases = json_object_get(vectors, "cases"), *c;
	struct jwks *s;
	struct why why;
	size_t i, j;

	if (jwks_parse(text, len, 0, &s, &why) != 0) {
		if (s != NULL || why.code != WHY_CONFIG)
			abort();
		return;
	}
	for (i = 0; i < jwks_count(s); i++)
		if ((jwk_unusable(jwks_at(s, i)) == NULL) != (jwk_alg(jwks_at(s, i)) != NULL))
			abort();
	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		json_array_foreach(cases, j, c)
			if (strcmp(json_string_value(json_object_get(c, "name")), good[i]) == 0)
				try_token(json_string_value(json_object_get(c, "token")), s);
	jwks_free(s);
}

static void
encode(struct buf *out, const char *part, size_t len)
{
	char *text = malloc(BASE64_ENCODE_LENGTH(len) + BASE64_ENCODE_FINAL_LENGTH);
	struct base64_encode_ctx ctx;

	if (text == NULL)
		abort();
	base64url_encode_init(&ctx);
	size_t n = base64_encode_update(&ctx, text, len, (const uint8_t *)part);
	n += base64_encode_final(&ctx, text + n);
	while (n > 0 && text[n - 1] == '=')
		n--;
	buf_add(out, text, n);
	free(text);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf token = { 0 };
	const char *part, *end, *p = (const char *)data;
	char *text;
	int i;

	if (size > INPUT_MAX)
		return 0;
	if (size > 0 && data[0] == '{') {
		try_keys(p, size);
		return 0;
	}
	if (size > 0 && data[0] == '!') {
		end = p + size;
		for (part = p + 1, i = 0; i < 2; i++) {
			const char *lf = memchr(part, '\n', (size_t)(end - part));

			lf = lf != NULL ? lf : end;
			encode(&token, part, (size_t)(lf - part));
			buf_puts(&token, ".");
			part = lf < end ? lf + 1 : end;
		}
		buf_add(&token, part, (size_t)(end - part));
	} else
		buf_add(&token, p, size);
	if ((text = buf_take(&token)) == NULL)
		abort();
	try_token(text, keys);
	free(text);
	return 0;
}
