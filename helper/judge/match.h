/* Decides whether a policy covers a container, and whether it allows all that is asked for. */
#ifndef GPUHELPER_JUDGE_MATCH_H
#define GPUHELPER_JUDGE_MATCH_H

#include "../policy/policydecide.h"
#include "../policy/policygrant.h"
#include "requested.h"

/* True if the policy is for this caller and this pipeline; otherwise false, and *why says what differs. */
bool policy_covers(const struct policy *p, const struct client *who, const struct identity *id,
    const struct settings *s, struct why *why);

/*
 * For a policy that is for this caller and this pipeline, but does not cover the container, names the part
 * that the policy is not for ("this job"). Otherwise returns NULL.
 */
#define MISSES_CLAIMS "these claims"
const char *policy_misses(const struct policy *p, const struct client *who, const struct identity *id,
    const struct settings *s);

/*
 * Judges a request by a policy that covers the container (policy_covers()). Returns VERDICT_GRANT with *out filled, or
 * VERDICT_LACKS with *why; neither is 0. Does not consider whether GPUs are free. The caller calls grant_free() in any
 * case.
 */
enum verdict_kind policy_decide(const struct policy *p, const struct client *who, const struct requested *requested,
    const struct inventory *inv, const struct settings *settings, struct grant *out, struct why *why);

#endif
