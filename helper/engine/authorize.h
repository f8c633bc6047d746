/*
 * What is decided about a request: the policies, the container's pipeline, and what gpuhelper-judge decides by these. A
 * verdict becomes a grant only within what its policy gives.
 */
#ifndef GPUHELPER_ENGINE_AUTHORIZE_H
#define GPUHELPER_ENGINE_AUTHORIZE_H

#include "../ask/verdict.h"
#include "hostgpus.h"

/* Begins as zero. */
struct authorized {
	struct settings settings;
	struct policy_set policies;
	struct origin origin;		/* refers to the settings */
	struct decision decision;	/* refers to the policies */
	struct verdict verdict;
};

/*
 * Identifies the pipeline, and decides. read, len: gpuhelper-read's answer about the policies. Fills in *r, anew, and
 * *out, which refers to *r: nobody may free it.
 */
void authorize(struct authorized *r, struct host *h, const struct authz_ask *a, const char *read, size_t len,
    struct authz_answer *out);

#endif
