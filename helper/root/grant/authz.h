/*
 * What is decided about a call: the container's pipeline, and what gpuhelper-engine lets it have by root's policies
 * (child/engine.h), which the helper does not read.
 */
#ifndef GPUHELPER_ROOT_GRANT_AUTHZ_H
#define GPUHELPER_ROOT_GRANT_AUTHZ_H

#include "../../ask/identity.h"
#include "../enter/call.h"

/* The caller fills in «call»; the rest starts as zero. Later steps (plan.h) only read it. Must not be copied. */
struct authz {
	const struct call *call;
	bool asks_nothing;			/* the container asks for nothing: if the policies give it nothing, it is plain */
	struct settings settings;
	struct policy policy;		/* that grants: its name and terms */
	struct policy_set nested;	/* for «run»: the policies that give folders for writing, and broken ones */
	struct origin origin;		/* refers to the settings */
	bool looked;			/* GPUs were looked for: those of the host must be hidden, even if none is granted */
	bool identified;		/* all of «origin» is filled in, not only the token's hash */
	bool judged;			/* the judge was asked for its decision */
	struct decision decision;	/* refers to the policy */
};

/*
 * Identifies the pipeline, and decides what of these words the container gets. Leaves the caller's cgroup. remembered:
 * of a task, the pipeline by its container's lease; else NULL. 0: the policy decision.policy grants decision.grant. -1
 * with *why: nothing is granted. authz_free() in either case.
 */
int authz_make(struct authz *r, const struct request_words *words, const char *remembered, struct why *why);

void authz_free(struct authz *r);
#define autoauthz __attribute__((cleanup(authz_free)))

#endif
