/* Claims of a token by the names that its issuer gives them (struct issuer_claims in policy/settings.h). */
#ifndef GPUHELPER_JUDGE_ISSUERCLAIMS_H
#define GPUHELPER_JUDGE_ISSUERCLAIMS_H

#include <jansson.h>
#include <nettle/sha2.h>

#include "../base/why.h"
#include "../policy/settings.h"

/* Texts of the payload, which owns them. */
struct claimed_names {
	const char *team, *pipeline;
	int team_len;		/* bytes of the team, which no NUL ends */
	const char *job;	/* NULL: none */
};

/*
 * Each gets one name, in this order. 0, or -1 with *why: WHY_DATA if the claim is not there or not a string, WHY_DENIED
 * if it is no name: empty (a job may be), with control characters, or not to be told from another pair of team and
 * pipeline.
 */
int claimed_team(const json_t *payload, const struct issuer_claims *c, struct claimed_names *out, struct why *why);
int claimed_pipeline(const json_t *payload, const struct issuer_claims *c, struct claimed_names *out, struct why *why);
int claimed_job(const json_t *payload, const struct issuer_claims *c, struct claimed_names *out, struct why *why);

/* 0 if the token has what its issuer's setting requires, or -1 with *why. */
int claims_hold(const json_t *payload, const struct issuer_claims *c, struct why *why);

/* 0, and describes the claim that reuse_by names, or -1 with *why: it can't be the name of a job. */
int claims_turn(const json_t *payload, const struct issuer_claims *c, char is[80], struct why *why);
/* Adds that claim, its name and type included, to a hash. False if memory is short. */
bool claims_turn_add(const json_t *payload, const struct issuer_claims *c, struct sha256_ctx *to);

/* Copies the claims that the policies ask about, also those that the token does not have. False if memory is short. */
bool claims_wanted(const json_t *payload, const struct issuer_claims *c, struct claim_set *out);

#endif
