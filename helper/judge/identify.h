/* Finds out whose a token is, and parses other JSON and keys, for the helper and for explain. */
#ifndef GPUHELPER_JUDGE_IDENTIFY_H
#define GPUHELPER_JUDGE_IDENTIFY_H

#include "../ask/judgequery.h"
#include "token.h"

/*
 * Verifies a token at the time a->now, against the issuer that it names. *issuer gets the issuer's index, *out the
 * claims, which the caller frees with token_claims_free(). Returns 0, or -1 with *why if the token is not valid or its
 * issuer's keys are missing.
 * With a log, makes and logs each check, as explain needs it. Without a log, the token may be a stranger's: parses no
 * part of it unless a key of these issuers has signed it, so the refusal (WHY_UNSIGNED) can't say which check failed.
 */
int token_identify(const struct judge_query *a, uint32_t *issuer, struct token_claims *out, struct token_check_log *log,
    struct why *why);

/*
 * Parses instance variables, a JSON object (BUILD_PIPELINE_INSTANCE_VARS). Returns 0, or -1 with *why. The
 * caller calls instance_vars_free() in any case.
 */
int vars_parse(const char *text, struct instance_vars *out, struct why *why);

/*
 * Reads and parses the keys of an issuer, with the caller's own rights. Returns 0, or -1 with *why. The
 * caller calls jwks_free() in any case.
 */
int issuer_keys_load(const struct issuer_setting *s, bool strict, struct jwks **keys, struct why *why);

#endif
