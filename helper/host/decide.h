/*
 * Which policy decides, over the files in their order.  The same code for root
 * and for gpuhelperctl explain.
 */
#ifndef GPUHELPER_HOST_DECIDE_H
#define GPUHELPER_HOST_DECIDE_H

#include "../pure/match.h"
#include "../pure/policyset.h"
#include "cdidirs.h"

/* Of the vendors in the mask (1 << enum gpu_vendor), as gpus_find() fills it: the inventory is the caller's to free. */
typedef int gpus_finder(unsigned vendors, struct inventory *out, struct why *why);

struct question {
	const struct asker *who;
	const struct identity *id;
	const struct ask *ask;
	const struct settings *settings;
	const struct policy_set *policies;	/* in the order of their files; outlives the decision */
	gpus_finder *find_gpus;
	cdi_parser *parse_specs;
};

struct decision {
	enum verdict verdict;		/* VERDICT_GRANT, or why is filled */
	struct why why;			/* what to tell who asked */
	const struct policy *policy;	/* the one that granted */
	struct inventory inventory;	/* of the vendors it speaks of, with their names in CDI specs */
	struct cdi_registry specs;	/* where it gives GPUs */
	struct grant grant;
};

/* Told of each file in turn: what it said and, but for a grant, why. */
typedef void decide_trace(void *ctx, const char *file, enum verdict v, const char *why);

/*
 * Judges by the first policy that covers the question and allows all of it; a
 * file that does not parse ends the search.  trace may be NULL.
 * decision_free() afterwards.
 */
void decide(const struct question *q, struct decision *out, decide_trace *trace, void *ctx);
void decision_free(struct decision *d);
#define autodecision __attribute__((cleanup(decision_free)))

#endif
