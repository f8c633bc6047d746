/*
 * What is decided about a call: root's settings and policies, the container's pipeline, and what gpuhelper-judge
 * decides by these.
 */
#ifndef GPUHELPER_ROOT_GRANT_AUTHZ_H
#define GPUHELPER_ROOT_GRANT_AUTHZ_H

#include "../../ask/identity.h"
#include "../enter/call.h"

/* The caller fills in «call»; the rest starts as zero. Later steps (plan.h) only read it. */
struct authz {
	const struct call *call;
	bool asks_nothing;			/* the container asks for nothing: if the policies give it nothing, it is plain */
	struct settings settings;
	struct policy_set policies;
	struct origin origin;		/* refers to the settings */
	bool identified;		/* all of «origin» is filled in, not only the token's hash */
	bool asked;			/* the judge was asked for its decision */
	struct decision decision;	/* refers to the policies */
};

/*
 * Reads the settings and the policies, identifies the pipeline, and decides the call's request. Leaves the
 * caller's cgroup. 0: the policy decision.policy grants decision.grant. -1 with *why: nothing is granted.
 * authz_free() in either case.
 */
int authz_make(struct authz *r, struct why *why);

/*
 * Only the last step: decides what of «asked» the container gets. The settings, the policies and the identity must be
 * filled in, and host_ask_gpus() must have been called. 0 or -1 as authz_make().
 */
int authz_decide(struct authz *r, const struct request *asked, struct why *why);

void authz_free(struct authz *r);
#define autoauthz __attribute__((cleanup(authz_free)))

#endif
