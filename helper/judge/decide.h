/*
 * Which policy decides, over the files in their order.  The same code for the helper
 * and for gpuhelperctl explain.
 */
#ifndef GPUHELPER_JUDGE_DECIDE_H
#define GPUHELPER_JUDGE_DECIDE_H

#include "../pure/grantask.h"
#include "../pure/verdict.h"
#include "match.h"

struct question {
	const struct asker *who;
	const struct identity *id;
	const struct ask *ask;
	const struct settings *settings;
	const struct policy_set *policies;	/* in the order of their files; outlives the decision */
	size_t files;			/* how many there are, those included that are not for this caller */
	const struct inventory *host;	/* with the names that CDI specs have for its GPUs */
	const struct why *blind;	/* why the host's GPUs are not known; WHY_NONE: they are */
};

/* Told of each file in turn: what it said and, but for a grant, why. */
typedef void decide_trace(void *ctx, const char *file, enum verdict_kind v, const char *why);

/*
 * Judges by the first policy that covers the question and allows all of it; a
 * file that does not parse ends the search.  trace may be NULL.
 * decision_free() afterwards.
 */
void decide(const struct question *q, struct decision *out, decide_trace *trace, void *ctx);

/* The same of what the helper asks.  -1 with *why: nothing is granted.  verdict_free() in either case. */
int decide_ask(const struct grant_ask *a, struct verdict *out, struct why *why);

#endif
