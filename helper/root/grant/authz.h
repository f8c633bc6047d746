/*
 * What is decided about a call: the container's pipeline, and what gpuhelper-engine lets it have by root's policies
 * (child/engine.h), which the helper does not read.
 */
#ifndef GPUHELPER_ROOT_GRANT_AUTHZ_H
#define GPUHELPER_ROOT_GRANT_AUTHZ_H

#include "../../ask/attribution.h"
#include "../enter/call.h"

/* The caller fills in «call»; the rest starts as zero. Later steps (plan.h) only read it. Must not be copied. */
struct authz {
	const struct call *call;
	bool asks_nothing;			/* the container asks for nothing: if the policies give it nothing, it is plain */
	struct settings settings;
	struct policy policy;		/* that grants: its name and terms */
	struct policy_set writers;	/* for «run»: the policies that give folders for writing, and broken ones */
	struct attribution whose;	/* refers to the settings */
	bool searched;			/* GPUs were looked for: those of the host must be hidden, even if none is granted */
	bool identified;		/* all of «whose» is filled in, not only the token's hash */
	bool judged;			/* the judge was asked for its decision */
	struct decision decision;	/* refers to the policy, and has no inventory of its own */
};

/*
 * Identifies the pipeline, and decides what the container gets of what it asks for. Leaves the caller's cgroup.
 * packed: of a task, attribution_pack() of its container's lease; else NULL. 0: the policy decision.policy grants
 * decision.grant. -1 with *why: nothing is granted. authz_free() in either case.
 */
int authz_make(struct authz *authz, const struct untrusted *untrusted, const char *packed, struct why *why);

void authz_free(struct authz *authz);
#define autoauthz __attribute__((cleanup(authz_free)))

#endif
