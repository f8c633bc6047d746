/*
 * The token that proves a pipeline: a JWT of Concourse's «idtoken» var source,
 * verified offline against the keys of the issuer that gpuhelper.conf names.
 * Compact JWS only (RFC 7515, RFC 7519).  No clock, no files, no network: the
 * caller passes the time and the keys.
 *
 * A token is a secret while it is valid.  No message and no log line of this
 * file has any of it but short claims, cut and made printable, that say why it
 * was refused (iss, aud, kid, alg, dates, names).
 */
#ifndef GPUHELPER_PURE_TOKEN_H
#define GPUHELPER_PURE_TOKEN_H

#include <stddef.h>
#include <stdint.h>

#include "instancevars.h"
#include "jwk.h"
#include "why.h"

#define TOKEN_MAX 8192		/* bytes of a token */
#define TOKEN_LEEWAY 60		/* seconds that our clock and the issuer's may differ */
#define TOKEN_MAX_AGE 3600	/* default of max_age, for who reads the settings */

/* What gpuhelper.conf says of one issuer; the strings are the caller's. */
struct issuer {
	const char *url;	/* its tokens' iss, byte for byte */
	const char *audience;	/* must be in their aud, byte for byte */
	int64_t max_age;	/* seconds from iat on that a token is taken, > 0, without leeway */
	int64_t keys_max_age;	/* seconds from fetching on that its keys are taken; 0: for ever */
};

/* What a verified token says; token_claims_free() frees what is in it. */
struct token_claims {
	char *team, *pipeline;	/* never NULL or "" */
	char *job;		/* NULL: it names none */
	struct instance_vars instance_vars;
	int64_t iat, exp;
	char hash[65];		/* SHA-256 of the token's bytes, hex: for the audit log */
	/*
	 * The same for all spellings of one token, hex: for whoever remembers used
	 * tokens.  «hash» is no good for that, because anyone who holds an ES256 token
	 * can turn it into a second valid one (see jwk_signature_normalise()).
	 */
	char once[65];
};

void token_claims_free(struct token_claims *c);
#define autoclaims __attribute__((cleanup(token_claims_free)))

enum token_check_result { TOKEN_CHECK_OK, TOKEN_CHECK_FAILED, TOKEN_CHECK_SKIPPED };

#define TOKEN_CHECKS_MAX 20

/*
 * Every check of one token in order, for «explain».  Where the signature does
 * not hold, the claims that later lines show are what someone wrote, no more.
 */
struct token_check_log {
	struct {
		const char *name;	/* static: "form", "signature", "aud", … */
		enum token_check_result result;
		char text[192];		/* printable: what was found, or why it fails */
	} check[TOKEN_CHECKS_MAX];
	size_t n;
};

/*
 * What the token says of its issuer, UNVERIFIED: only to choose the issuer (its
 * keys, audience and limits) that token_verify() is then called with, and that
 * checks it again.  On success *iss is the caller's to free().  Fails with
 * WHY_DATA for what is no token with an iss, WHY_BUG for want of memory.
 */
int token_issuer_unverified(const char *token, char **iss, struct why *why);

/*
 * Verifies a token (terminated; no white space around it, a file's last newline
 * is the caller's to remove) of this issuer at the time «now».
 *
 * 0: it holds, *out is filled.  -1: it does not, *out is all zero, and why has
 * the first failure: WHY_DATA where the token is malformed (of a wrong form,
 * encoding or type, a claim missing), WHY_DENIED where it is well-formed and
 * does not hold (no such key, another algorithm, signature, issuer, audience or
 * time), WHY_CONFIG where the fault is the host's or the issuer's (keys too old,
 * the key named can't be used, settings out of range), WHY_BUG for want of memory.
 *
 * With a log, the checks after a failed one are made too, as far as they can
 * be; that never changes the outcome.  log may be NULL.
 */
int token_verify(const char *token, const struct issuer *issuer, const struct jwks *jwks,
    int64_t now, struct token_claims *out, struct token_check_log *log, struct why *why);

/* SHA-256 of any string's bytes, hex: how the audit log names a token that was refused. */
void token_hash(const char *token, char hex[65]);

#endif
