/*
 * The decision of gpuhelper-judge: which policy grants, and what of its rules, as indexes into the question
 * (grantquery.h). The judge has read a stranger's text, so gpuhelper-engine checks whatever can be checked.
 */
#ifndef GPUHELPER_ASK_DECISIONINDEXES_H
#define GPUHELPER_ASK_DECISIONINDEXES_H

#include "../base/lines.h"
#include "../policy/policydecide.h"
#include "../policy/policygrant.h"
#include "grantedfolder.h"

struct gpu_indexes {
	uint32_t rule, count;
	uint32_t candidate[CANDIDATES_MAX];	/* indexes among the inventory's GPUs of policy_vendors() */
	size_t n;
};

struct decision_indexes {
	uint32_t policy;
	struct gpu_indexes *gpus;
	size_t grants;
	struct granted_folder *folder;
	size_t folders;
};

/* Writes or reads it as lines (lines.h). decision_indexes_free() after reading, in any case. */
void decision_indexes_lines(struct lines *t, struct decision_indexes *v);
void decision_indexes_free(struct decision_indexes *v);

/*
 * Makes the indexes of a decision, into these policies. 0, or -1 with *why if memory is short;
 * decision_indexes_free() in any case.
 */
int indexes_make(const struct decision *d, const struct policy_set *policies, struct decision_indexes *out,
    struct why *why);

/* What the reader of the indexes knows by itself. */
struct judge_bounds {
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
 * Takes a decision by its indexes, and checks it: the policy lists this caller and takes this proof of the pipeline,
 * and the grant has only GPUs and folders of its rules, within their limits. Whether the request is of that policy and
 * pipeline can't be checked here. 0, or -1 with *why; decision_free() in any case.
 */
int indexes_take(const struct decision_indexes *v, const struct judge_bounds *b, struct decision *out, struct why *why);

#endif
