/* Claims as JSON, for options, files of tests, and answers. */
#ifndef GPUHELPER_CTL_EXPLAIN_CLAIMSJSON_H
#define GPUHELPER_CTL_EXPLAIN_CLAIMSJSON_H

#include <jansson.h>

#include "../../base/why.h"
#include "../../policy/claimset.h"

/* Reads claims from a JSON object. 0, or -1 with *why; claim_set_free() in any case. */
int claims_parse(const char *text, struct claim_set *out, struct why *why);

/* Adds those of a list that are not in the set as absent. False if memory is short. */
bool claims_fill(struct claim_set *s, const struct strlist *names);

/*
 * Makes an object of them, a new reference: each name with its value, or with a list if it has several; null for one
 * that is not there. Leaves out lists, objects and fractions, of which a set has only the type.
 */
json_t *claims_json(const struct claim_set *s);

#endif
