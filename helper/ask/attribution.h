/*
 * Whose request it is, as far as the helper must know, which records that, and remembers it in leases. The rest only
 * gpuhelper-engine reads (identity.h).
 */
#ifndef GPUHELPER_ASK_ATTRIBUTION_H
#define GPUHELPER_ASK_ATTRIBUTION_H

#include "../base/hash.h"
#include "../base/lines.h"
#include "../policy/policygrant.h"
#include "../policy/tokenhash.h"
#include "request.h"

#define PACKED_IDENTITY_MAX (64 << 10)	/* bytes */

struct attribution {
	enum identity_kind kind;	/* IDENTITY_CALLER: no pipeline is known */
	char *team, *pipeline, *job, *issuer;	/* NULL: unknown; an issuer is a token's */
	char *vars;			/* instance variables, as records show them (instance_vars_show()); NULL: none */
	uint32_t vars_left_out;		/* how many of them are left out there */
	char *identity;			/* identity_pack(), for gpuhelper-engine; NULL: too long to be remembered */
	int64_t exp;			/* this and the next: of a valid token (claims.h); 0, "": there is none */
	char once[HASH_SIZE];
	/* not in the lines; the helper sets these */
	const struct issuer_setting *by;	/* of a valid token; belongs to the settings */
	char token_hash[HASH_SIZE];	/* "": no token; an invalid token has one, too */
};

/* Writes or reads all but the helper's own members. What is read must be freed by attribution_free() in any case. */
void attribution_lines(struct lines *t, struct attribution *a);
/*
 * Packs it for a lease, without the token. The caller frees the text; NULL if memory is short, or the identity was too
 * long. Unpacks it; false, with *out empty, for any other text. attribution_free() in any case.
 */
char *attribution_pack(const struct attribution *a);
bool attribution_unpack(const char *text, struct attribution *out);
/* What the container itself claims; for records alone. *out must be empty. False: memory is short. */
bool attribution_claimed(const struct untrusted *w, struct attribution *out);
void attribution_free(struct attribution *a);
#define autoattribution __attribute__((cleanup(attribution_free)))

/* Writes or reads as lines who asks. */
void client_lines(struct lines *t, struct client *who);

#endif
