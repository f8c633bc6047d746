/* A container's pipeline, and how it was proven. */
#ifndef GPUHELPER_ASK_IDENTITY_H
#define GPUHELPER_ASK_IDENTITY_H

#include "../policy/claims.h"
#include "../policy/policydecide.h"
#include "../policy/policygrant.h"
#include "../policy/tokenhash.h"
#include "request.h"

#define IDENTITY_TEXTS 4

/* An identity, with what it borrows from. */
struct principal {
	struct identity id;
	const struct issuer_setting *issuer;	/* of a token; belongs to the settings */
	struct token_claims claims;		/* of a valid token */
	char token_hash[HASH_SIZE];			/* "": no token; an invalid token has one, too */
	struct instance_vars vars;		/* of a claim, or of a lease */
	struct claim_set kept_claims;		/* from a lease */
	char *text[IDENTITY_TEXTS];	/* from a lease: team, pipeline, job, issuer */
};

/* Sets the identity from k->claims, which are of a valid token of this issuer. */
void principal_from_token(struct principal *k, const struct issuer_setting *issuer);

/* Parses instance variables from a JSON object. 0, or -1 with *why; instance_vars_free() in any case. */
typedef int vars_parser(const char *text, struct instance_vars *out, struct why *why);

/*
 * Sets the identity that the container claims (BUILD_*); IDENTITY_CALLER without a team and a pipeline. 0, or
 * -1 with *why if the instance variables can't be read: *out then names team, pipeline and job, for the audit
 * record of the refusal alone.
 */
int identity_of_claims(const struct untrusted *w, vars_parser *parse, struct principal *out, struct why *why);

#define IDENTITY_VARS_MAX 4096	/* bytes of instance_vars and claims that a lease remembers */

/*
 * Packs an identity for a lease. The caller frees the text; NULL if memory is short, or instance_vars and claims
 * are too long.
 * Unpacks it; false, with *out empty, for any other text. principal_free() in any case.
 */
char *identity_pack(const struct identity *id);
bool identity_unpack(const char *text, struct principal *out);

/* Writes the identity as lines (lines.h), or reads it, for principal_free(). */
void principal_lines(struct lines *s, struct principal *k);

/* Writes or reads the claims of a valid token as lines. */
void token_claims_lines(struct lines *t, struct token_claims *c);

/* Moves all of it; parts of a principal refer to others. *to must own nothing. */
void principal_move(struct principal *from, struct principal *to);
void principal_free(struct principal *k);
#define autoprincipal __attribute__((cleanup(principal_free)))

#endif
