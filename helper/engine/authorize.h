/*
 * What is decided about a request: the policies, the container's pipeline, and what gpuhelper-judge decides by these. A
 * decision becomes a grant only within what its policy gives.
 */
#ifndef GPUHELPER_ENGINE_AUTHORIZE_H
#define GPUHELPER_ENGINE_AUTHORIZE_H

#include "../ask/attribution.h"
#include "../ask/decisionindexes.h"
#include "../ask/identity.h"
#include "hostgpus.h"

/* Begins as zero. */
struct authorized {
	struct settings settings;
	struct policy_set policies;
	struct principal principal;	/* refers to the settings */
	struct attribution whose;	/* what the helper is told of the principal */
	struct decision decision;	/* refers to the policies */
	struct decision_indexes indexes;
};

/*
 * Identifies the pipeline, and decides. read, len: gpuhelper-read's answer about the policies. Fills in *r, anew, and
 * *out, which refers to *r: nobody may free it.
 */
void authorize(struct authorized *r, struct host *h, const struct authz_query *a, const char *read, size_t len,
    struct authz_answer *out);

#endif
