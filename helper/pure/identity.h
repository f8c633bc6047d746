/* Which pipeline a container is of, and how that is known. */
#ifndef GPUHELPER_PURE_IDENTITY_H
#define GPUHELPER_PURE_IDENTITY_H

#include "claims.h"
#include "grant.h"
#include "request.h"

#define IDENTITY_TEXTS 4

/* An identity and what it borrows from. */
struct known {
	struct identity id;
	const struct issuer_setting *issuer;	/* of a token; belongs to the settings */
	struct token_claims claims;		/* of a token that holds */
	char token_hash[65];			/* "" without a token; names it where it does not hold, too */
	struct instance_vars vars;		/* of a claim, or remembered */
	char *remembered[IDENTITY_TEXTS];	/* by a lease: team, pipeline, job, issuer */
};

/* Its identity is what k->claims says, of a token of that issuer's that holds. */
void known_by_token(struct known *k, const struct issuer_setting *issuer);

/* Reads instance variables as a JSON object.  -1 with *why; instance_vars_free() in either case. */
typedef int vars_parser(const char *text, struct instance_vars *out, struct why *why);

/*
 * Of what the container claims (BUILD_*); without a team and a pipeline it has none (IDENTITY_CALLER).  -1 with *why
 * where its instance variables can't be read: *out then names team, pipeline and job, for the refusal's record alone.
 */
int identity_of_claims(const struct request *r, vars_parser *parse, struct known *out, struct why *why);

#define IDENTITY_VARS_MAX 4096	/* bytes of instance_vars that are remembered */

/*
 * An identity to be remembered, which the caller frees; NULL: no memory, or its
 * instance_vars are too long for that.  And back, for known_free(); false, and *out
 * empty, for what it would not have made.
 */
char *identity_pack(const struct identity *id);
bool identity_unpack(const char *text, struct known *out);

/* As lines (lines.h): writes the identity, or reads it back, for known_free(). */
void known_lines(struct lines *s, struct known *k);

void known_free(struct known *k);
#define autoknown __attribute__((cleanup(known_free)))

#endif
