/*
 * Decides by which policy a request is granted, over the policy files in their order. gpuhelper-judge
 * and «gpuhelperctl explain» use the same code.
 */
#ifndef GPUHELPER_JUDGE_DECIDE_H
#define GPUHELPER_JUDGE_DECIDE_H

#include "../ask/grantquery.h"
#include "../ask/decisionindexes.h"
#include "../policy/policydecide.h"
#include "match.h"

struct question {
	const struct client *who;
	const struct identity *id;
	const struct requested *requested;
	const struct settings *settings;
	const struct policy_set *policies;	/* in the order of their files; must outlive the decision */
	size_t files;			/* the number of policy files, also those for other callers */
	const struct inventory *host;	/* with the GPUs' names in CDI specs */
	const struct why *gpus_unknown;	/* why the host's GPUs could not be read, or WHY_NONE */
};

/* Called for each file in turn with its verdict and, unless that is a grant, the reason. */
typedef void decide_trace(void *ctx, const char *file, enum verdict_kind v, const char *why);

/*
 * Decides by the first policy that covers the question and allows all of it. A file that does not parse ends
 * the search. «trace» may be NULL. The caller calls decision_free().
 */
void decide(const struct question *q, struct decision *out, decide_trace *trace, void *ctx);

/*
 * The same for gpuhelper-engine's question. Returns 0, or -1 with *why: nothing is granted. The caller calls
 * decision_indexes_free() in any case.
 */
int decide_grant(const struct grant_query *a, struct decision_indexes *out, struct why *why);

#endif
