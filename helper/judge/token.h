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
#ifndef GPUHELPER_JUDGE_TOKEN_H
#define GPUHELPER_JUDGE_TOKEN_H

#include <stddef.h>
#include <stdint.h>

#include "../pure/claims.h"
#include "../pure/why.h"
#include "jwk.h"

/* What gpuhelper.conf says of one issuer; the strings are the caller's. */
struct issuer {
	const char *url;	/* its tokens' iss, byte for byte */
	const char *audience;	/* must be in their aud, byte for byte */
	int64_t max_age;	/* seconds from iat on that a token is taken, > 0, without leeway */
	int64_t keys_max_age;	/* seconds from fetching on that its keys are taken; 0: for ever */
};

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
 * Has one of the keys of these sets (NULL: an empty one) signed the token?  Looks into neither header nor payload, so
 * that nobody who can sign nothing has a parser read what he wrote; token_verify() then looks at all of it again.
 * 0 with *by_any; -1 with why where it is not of a token's form (WHY_DATA), or for want of memory (WHY_BUG).
 */
int token_signed(const char *token, struct jwks *const keys[], size_t sets, bool *by_any, struct why *why);

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

#endif
