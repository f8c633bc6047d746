/*
 * Verifies the token that proves a pipeline: a JWT of Concourse's «idtoken» var source, or of another CI, in compact
 * JWS form (RFC 7515, RFC 7519), against the keys of the issuer that gpuhelper.conf names. Uses no clock, files or
 * network: the caller passes the time and the keys.
 * A valid token is a secret. Messages and log lines show only short claims that say why it was refused (iss,
 * aud, kid, alg, dates, names), cut and made printable.
 */
#ifndef GPUHELPER_JUDGE_TOKEN_H
#define GPUHELPER_JUDGE_TOKEN_H

#include <stddef.h>
#include <stdint.h>

#include "../base/why.h"
#include "../policy/claims.h"
#include "../policy/settings.h"
#include "jwk.h"

/* One issuer of gpuhelper.conf; the caller owns the strings. */
struct issuer {
	const char *url;	/* iss of its tokens, byte for byte */
	const char *audience;	/* must be in aud of its tokens, byte for byte */
	int64_t max_age;	/* seconds after iat in which a token is accepted, > 0, without leeway */
	int64_t keys_max_age;	/* seconds after fetching in which its keys are accepted; 0: for ever */
	/*
	 * The names of its claims; NULL: as in Concourse's tokens. If it names a claim for the pipeline and none for the
	 * team, that claim has both, as «GROUP/SUBGROUP/PROJECT»: the team is what stands before the first slash. Else the
	 * team may have no slash. So a team and a pipeline never have the name of another pair.
	 */
	const struct issuer_claims *claims;
};

enum token_check_result { TOKEN_CHECK_OK, TOKEN_CHECK_FAILED, TOKEN_CHECK_SKIPPED };

#define TOKEN_CHECKS_MAX 20

/*
 * The checks of one token in their order, for «explain». If the signature is not valid, later lines show claims that
 * anyone may have written.
 */
struct token_check_log {
	struct {
		const char *name;	/* static: "form", "signature", "aud", … */
		enum token_check_result result;
		char text[192];		/* printable: what was found, or why it fails */
	} check[TOKEN_CHECKS_MAX];
	size_t n;
};

/* The bytes that a token of such an issuer may have. */
size_t token_bytes(const struct issuer_claims *c);

/*
 * Tells whether one of the keys in these sets has signed the token, of at most «most» bytes. A set may be NULL, which
 * is an empty one.
 * Parses neither header nor payload, so that nobody without a key can have a parser read his text;
 * token_verify() then checks everything again. Returns 0 with *by_any, or -1 with *why if it does not have
 * the form of a token (WHY_DATA) or memory is short (WHY_BUG).
 */
int token_signed(const char *token, size_t most, struct jwks *const keys[], size_t sets, bool *by_any,
    struct why *why);

/*
 * Gets the issuer that the token names, UNVERIFIED. Use it only to choose the issuer (keys, audience and
 * limits) for token_verify(), which checks it again. Returns 0, and the caller frees *iss, or -1 with *why:
 * WHY_DATA if the text is not a token with an iss, WHY_BUG if memory is short.
 */
int token_issuer_unverified(const char *token, char **iss, struct why *why);

/*
 * Verifies a token of this issuer at the time «now». The token ends with a NUL and has no white space around
 * it: the caller removes a file's last newline.
 * Returns 0 with *out filled if the token is valid. Otherwise returns -1, *out is all zero, and *why has the first
 * failure: WHY_DATA if the token is malformed (wrong form, encoding or type, a claim missing), WHY_DENIED if it is
 * well-formed and not valid (no such key, another algorithm, signature, issuer, audience or time), WHY_CONFIG if the
 * fault is the host's or the issuer's (keys too old, an unusable key named, settings out of range), WHY_BUG if memory
 * is short.
 * With a log, makes the checks after a failed one as well, as far as possible. That never changes the
 * outcome. «log» may be NULL.
 */
int token_verify(const char *token, const struct issuer *issuer, const struct jwks *jwks,
    int64_t now, struct token_claims *out, struct token_check_log *log, struct why *why);

#endif
