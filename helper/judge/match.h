/* The decision: does this policy cover that container, and does it allow all that is asked for? */
#ifndef GPUHELPER_JUDGE_MATCH_H
#define GPUHELPER_JUDGE_MATCH_H

#include "../pure/grant.h"
#include "asked.h"

/* True if the policy is about this caller and this pipeline; else *why says what differs. */
bool policy_covers(const struct policy *p, const struct asker *who, const struct identity *id, struct why *why);

/*
 * Of a policy that is about this caller and this pipeline, and still does not cover the container: what of it the
 * policy is not for; else NULL.
 */
const char *policy_misses(const struct policy *p, const struct asker *who, const struct identity *id);

/*
 * For a policy that covers: VERDICT_GRANT with *out filled, or VERDICT_LACKS
 * with *why.  Free or busy GPUs play no part.  grant_free() in either case.
 */
enum verdict_kind policy_allows(const struct policy *p, const struct asker *who, const struct ask *ask,
    const struct inventory *inv, const struct settings *settings, struct grant *out, struct why *why);

#endif
