/*
 * The verdict of gpuhelper-judge: which policy grants, and what of its rules, as indexes into the question
 * (grantask.h). The judge has read a stranger's text, so gpuhelper-engine checks whatever can be checked.
 */
#ifndef GPUHELPER_ASK_VERDICT_H
#define GPUHELPER_ASK_VERDICT_H

#include "../base/lines.h"
#include "../policy/policygrant.h"
#include "grantedfolder.h"

struct verdict_gpus {
	uint32_t rule, count;
	uint32_t candidate[CANDIDATES_MAX];	/* indexes among the inventory's GPUs of policy_vendors() */
	size_t n;
};

struct verdict {
	uint32_t policy;
	struct verdict_gpus *gpus;
	size_t wants;
	struct granted_folder *folder;
	size_t folders;
};

/* Writes or reads it as lines (lines.h). verdict_free() after reading, in any case. */
void verdict_lines(struct lines *t, struct verdict *v);
void verdict_free(struct verdict *v);

/*
 * Makes a verdict of a decision, with indexes into these policies. 0, or -1 with *why if memory is short;
 * verdict_free() in any case.
 */
int verdict_tell(const struct decision *d, const struct policy_set *policies, struct verdict *out, struct why *why);

/* What the reader of a verdict knows by itself. */
struct verdict_bounds {
	const struct client *who;
	const struct identity *id;
	const struct settings *settings;
	const struct policy_set *policies;
	const struct inventory *inventory;
	unsigned vendors;		/* of the question */
	const char *cuda_visible, *rocr_visible;	/* the worker's bounds (gpubound.h); NULL: none */
	bool privileged;		/* only a policy can allow this container */
};

/*
 * Checks a verdict: the policy lists this caller and takes this proof of the pipeline, and the grant has only
 * GPUs and folders of its rules, within their limits. Whether the request is of that policy and pipeline
 * can't be checked here. 0, or -1 with *why; decision_free() in any case.
 */
int verdict_accept(const struct verdict *v, const struct verdict_bounds *b, struct decision *out, struct why *why);

#endif
