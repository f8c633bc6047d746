/* Whose a token is, and what a claim's JSON says: questions of the helper's, and of explain's. */
#ifndef GPUHELPER_JUDGE_IDENTIFY_H
#define GPUHELPER_JUDGE_IDENTIFY_H

#include "../pure/judgeask.h"
#include "token.h"

/*
 * A token, verified at the time a->now against the one of these issuers that it names: *issuer is its index, and *out
 * what it says (token_claims_free()).  -1 with *why: it does not hold, or its issuer's keys can't be had.
 *
 * With a log, each check is made and told, as explain does.  Without one, as for a stranger, nothing of a token is
 * parsed that no key of these issuers has signed: the refusal then can't say which check fails.
 */
int token_identify(const struct judge_ask *a, uint32_t *issuer, struct token_claims *out, struct token_check_log *log,
    struct why *why);

/* Instance variables, a JSON object (BUILD_PIPELINE_INSTANCE_VARS).  -1 with *why; instance_vars_free() in any case. */
int vars_parse(const char *text, struct instance_vars *out, struct why *why);

/* The keys of an issuer, parsed: for whoever reads them with his own rights.  -1 with *why; jwks_free() in any case. */
int issuer_keys_load(const struct issuer_setting *s, bool strict, struct jwks **keys, struct why *why);

#endif
