/* The claims of a verified token (judge/token.h), and defaults of what gpuhelper.conf says of tokens. */
#ifndef GPUHELPER_POLICY_CLAIMS_H
#define GPUHELPER_POLICY_CLAIMS_H

#include <stdint.h>

#include "../base/hash.h"
#include "claimset.h"
#include "instancevars.h"

#define TOKEN_BYTES 8192	/* the default of token_bytes */
#define TOKEN_MAX_AGE 3600	/* default of max_age, in seconds */

struct token_claims {
	char *team, *pipeline;	/* never NULL or "" */
	char *job;		/* NULL: the token has none */
	struct instance_vars instance_vars;
	struct claim_set claims;	/* those that the policies ask about, as far as the token has them */
	int64_t iat, exp;
	/*
	 * SHA-256, in hex, for remembering used tokens: of what all spellings of one token have in common, or of the claim
	 * that the issuer's reuse_by names.
	 * The hash of the token's bytes does not do: anyone who has an ES256 token can turn it into a second
	 * valid one (see jwk_signature_normalise()).
	 */
	char once[HASH_SIZE];
};

void token_claims_free(struct token_claims *c);

#endif
