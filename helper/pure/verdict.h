/*
 * What gpuhelper-judge decides: by which policy, and of what its rules give which part, as places in what it was asked
 * with (grantask.h).  The judge has heard a stranger; so nothing of it is believed that can be seen to be wrong.
 */
#ifndef GPUHELPER_PURE_VERDICT_H
#define GPUHELPER_PURE_VERDICT_H

#include "grant.h"
#include "lines.h"

struct verdict_gpus {
	uint32_t rule, count;
	uint32_t candidate[CANDIDATES_MAX];	/* places among the inventory's GPUs of policy_vendors() */
	size_t n;
};

struct verdict_folder {
	uint32_t rule;
	char *path;		/* NULL: the rule's own */
	bool writable;
};

struct verdict {
	uint32_t policy;
	struct verdict_gpus *gpus;
	size_t wants;
	struct verdict_folder *folder;
	size_t folders;
};

/* As lines (lines.h): writes a value, or reads it back; verdict_free() then, whatever became of it. */
void verdict_lines(struct lines *t, struct verdict *v);
void verdict_free(struct verdict *v);

/* What was decided, as places in these policies.  -1 with *why: no memory; verdict_free() in either case. */
int verdict_tell(const struct decision *d, const struct policy_set *policies, struct verdict *out, struct why *why);

/* What the one who has to believe a verdict knows by himself. */
struct verdict_bounds {
	const struct asker *who;
	const struct identity *id;
	const struct settings *settings;
	const struct policy_set *policies;
	const struct inventory *inventory;
	unsigned vendors;		/* that it is of */
	const char *cuda_visible, *rocr_visible;	/* what bounds the worker (gpubound.h); NULL: nothing does */
};

/*
 * What a policy that lists this caller, and takes this proof of a pipeline, gives: no more than its rules say, of GPUs
 * and folders that these name.  Whether it is the policy and the pipeline that the request is of can't be seen.
 * -1 with *why: it is not that.  decision_free() in either case.
 */
int verdict_take(const struct verdict *v, const struct verdict_bounds *b, struct decision *out, struct why *why);

#endif
