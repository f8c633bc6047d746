/* What names a token, and limits of tokens and keys. */
#ifndef GPUHELPER_POLICY_TOKENHASH_H
#define GPUHELPER_POLICY_TOKENHASH_H

#include "../base/hash.h"

#define TOKEN_MAX 16384		/* bytes of a token, the most that token_bytes allows */
#define JWKS_MAX (256 * 1024)	/* bytes of an issuer's keys */
#define TOKEN_LEEWAY 60		/* seconds that our clock and the issuer's may differ by */

/* The SHA-256 of a token's bytes, in hex: the audit log names tokens by it, refused ones included. */
void token_hash(const char *token, char hex[HASH_SIZE]);

#endif
