/*
 * Parses the public keys of a token issuer (a JWKS, RFC 7517) and checks signatures with them: RS256, ES256
 * on P-256, EdDSA on Ed25519. The caller checks who may write the file that the text comes from.
 * Only the file behind this header uses nettle, hogweed and gmp. gmp ends the process when memory is short;
 * everything else here reports that in struct why.
 */
#ifndef GPUHELPER_JUDGE_JWK_H
#define GPUHELPER_JUDGE_JWK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "../base/why.h"
#include "../policy/claims.h"

#define JWKS_KEYS_MAX 32

struct jwks;
struct jwk;

/*
 * Reads a JWKS of «len» bytes. «fetched» is when it came from the issuer (seconds since 1970, 0 if unknown),
 * for messages and for keys_max_age. On success, *out belongs to the caller, who calls jwks_free(). Returns
 * -1 with WHY_CONFIG, and *out NULL, if the text is too large, is not strict JSON or not a JWKS, has more
 * than JWKS_KEYS_MAX keys, two keys of the same kid, or no usable key. The caller puts the file's name before
 * the message.
 * An unusable key (of another kty, curve, alg or use, private, short, or not on its curve) does not make the
 * others unusable: an issuer may publish kinds of keys that are unknown here. Such a key stays in the set
 * with the reason, and tokens that name it are refused.
 */
int jwks_parse(const char *text, size_t len, int64_t fetched, struct jwks **out, struct why *why);

void jwks_free(struct jwks *s);		/* NULL is fine */
static inline void
jwks_cleanup(struct jwks **s)
{
	jwks_free(*s);
}
#define autojwks __attribute__((cleanup(jwks_cleanup)))

int64_t jwks_fetched(const struct jwks *s);	/* seconds since 1970; 0 if unknown */
size_t jwks_count(const struct jwks *s);	/* unusable keys included */
const struct jwk *jwks_at(const struct jwks *s, size_t i);	/* NULL past the end */
const struct jwk *jwks_find(const struct jwks *s, const char *kid);	/* NULL if there is none */

/* The results of these functions live as long as the set. */
const char *jwk_kid(const struct jwk *k);	/* NULL if it has none */
const char *jwk_unusable(const struct jwk *k);	/* why it can't be used, or NULL */
const char *jwk_alg(const struct jwk *k);	/* "RS256"; NULL if unusable */
unsigned jwk_bits(const struct jwk *k);		/* size of the modulus or curve; 0 if unusable */

/*
 * True if «sig» is this key's signature of «msg» by the key's own algorithm. False as well for a signature of
 * another length, and for an unusable key.
 */
bool jwk_verify(const struct jwk *k, const uint8_t *msg, size_t len, const uint8_t *sig,
    size_t siglen);

/*
 * Anyone can turn a valid ES256 signature (r, s) into a second one, (r, n - s). Rewrites a signature that
 * jwk_verify() accepted to the smaller of the two. Signatures of other algorithms have one form only, and
 * stay as they are.
 */
void jwk_signature_normalise(const struct jwk *k, uint8_t *sig, size_t siglen);

#endif
