/* Which pipeline a container is of, and how that is known. */
#ifndef GPUHELPER_HOST_IDENTITY_H
#define GPUHELPER_HOST_IDENTITY_H

#include "../pure/match.h"
#include "../pure/token.h"

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

/*
 * The keys of an issuer; they are as old as their file.  «strict» as below.  -1 with
 * *why, as well where there is none; jwks_free() in either case.
 */
int issuer_keys_load(const struct issuer_setting *s, bool strict, struct jwks **keys, struct why *why);

/*
 * Of a token where there is one: verified at the time «now» against the issuer
 * of gpuhelper.conf that it names.  One that does not hold ends the matter, no
 * other identity is tried.  «strict»: key files have to be root's alone.  log,
 * if not NULL, gets each check.
 */
int identity_of_token(const char *token, const struct settings *settings, int64_t now, bool strict, struct known *out,
    struct token_check_log *log, struct why *why);

/* Of what the container claims (BUILD_*); without a team and a pipeline it has none (IDENTITY_CALLER). */
int identity_of_claims(const struct request *r, struct known *out, struct why *why);

#define IDENTITY_VARS_MAX 4096	/* bytes of instance_vars that are remembered */

/*
 * An identity to be remembered, which the caller frees; NULL: no memory, or its
 * instance_vars are too long for that.  And back, for known_free(); false, and *out
 * empty, for what it would not have made.
 */
char *identity_pack(const struct identity *id);
bool identity_unpack(const char *text, struct known *out);

void known_free(struct known *k);
#define autoknown __attribute__((cleanup(known_free)))

#endif
