/*
 * The public keys of one token issuer (a JWKS, RFC 7517) and signatures checked
 * with them: RS256, ES256 on P-256, EdDSA on Ed25519.  Text in, keys out: who
 * may write the file that the text is from is the caller's to check.
 *
 * nettle, hogweed and gmp stay behind this header.  gmp ends the process when it
 * is out of memory; everything else here says so in struct why.
 */
#ifndef GPUHELPER_JUDGE_JWK_H
#define GPUHELPER_JUDGE_JWK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "../pure/claims.h"
#include "../pure/why.h"

#define JWKS_KEYS_MAX 32

struct jwks;
struct jwk;

/*
 * Reads a JWKS of len bytes.  «fetched» is when it came from the issuer (seconds
 * since 1970; 0: unknown), for messages and for keys_max_age.  On
 * success *out is the caller's to jwks_free().  Fails with WHY_CONFIG, and *out
 * NULL, where the text is too large, is not strict JSON, is no JWKS, has more
 * than JWKS_KEYS_MAX keys, two keys of the same kid, or no key that is of use.
 * The caller puts the file's name before the message.
 *
 * A key that can't be used (of another kty, curve, alg or use, private, short,
 * not on its curve) does not spoil the others, for an issuer may publish what
 * we don't know.  It stays in the set with the reason, and refuses those tokens
 * that name it.
 */
int jwks_parse(const char *text, size_t len, int64_t fetched, struct jwks **out, struct why *why);

void jwks_free(struct jwks *s);		/* NULL is fine */
static inline void
jwks_cleanup(struct jwks **s)
{
	jwks_free(*s);
}
#define autojwks __attribute__((cleanup(jwks_cleanup)))

int64_t jwks_fetched(const struct jwks *s);
size_t jwks_count(const struct jwks *s);	/* those that can't be used too */
const struct jwk *jwks_at(const struct jwks *s, size_t i);	/* NULL: past the end */
const struct jwk *jwks_find(const struct jwks *s, const char *kid);	/* NULL: none */

/* What follows lives as long as the set. */
const char *jwk_kid(const struct jwk *k);	/* NULL: it has none */
const char *jwk_unusable(const struct jwk *k);	/* why it can't be used; NULL: it can */
const char *jwk_alg(const struct jwk *k);	/* "RS256"; NULL: can't be used */
unsigned jwk_bits(const struct jwk *k);		/* size of the modulus or curve; 0: can't be used */

/*
 * True if sig is this key's signature of msg, by the key's own algorithm; false
 * too for a signature of another length and for a key that can't be used.
 */
bool jwk_verify(const struct jwk *k, const uint8_t *msg, size_t len, const uint8_t *sig,
    size_t siglen);

/*
 * Anyone can turn a valid ES256 signature (r, s) into a second one, (r, n - s).
 * Rewrites a signature that jwk_verify() accepted into the smaller of the two;
 * others have one form only and stay as they are.
 */
void jwk_signature_normalise(const struct jwk *k, uint8_t *sig, size_t siglen);

#endif
