/* What decides by a policy (policygrant.h). The helper includes none of this. */
#ifndef GPUHELPER_POLICY_POLICYDECIDE_H
#define GPUHELPER_POLICY_POLICYDECIDE_H

#include "policygrant.h"

/* The pipeline, and how it was proven. */
struct identity {
	enum identity_kind kind;	/* IDENTITY_CALLER: no pipeline is known */
	const char *team, *pipeline, *job;	/* job: NULL where unknown */
	const struct instance_vars *instance_vars;	/* NULL: none */
	const char *issuer;		/* of a token */
	const struct claim_set *claims;	/* of a token, those that policies ask about; NULL: none */
};

#define autogrant __attribute__((cleanup(grant_free)))
void decision_free(struct decision *d);
#define autodecision __attribute__((cleanup(decision_free)))

/*
 * The most that a policy can give to anyone. gpuhelper-judge decides what a container gets; gpuhelper-engine makes the
 * grant from that decision with these functions, so that it can't exceed the policy.
 */

/* True if the policy is for this caller. Otherwise *why says why not. */
bool policy_lists(const struct policy *p, const struct client *who, struct why *why);
/*
 * True if the identity has the proof that the policy requires. Otherwise *why says which proof is missing. Does not
 * compare the pipeline.
 */
bool policy_takes(const struct policy *p, const struct identity *id, const struct settings *s, struct why *why);
/* True if the policy allows a privileged container, where gpuhelper.conf allows none. Otherwise *why says so. */
bool policy_lets_privileged(const struct policy *p, struct why *why);

/*
 * The vendors that a grant by the policy concerns, as a mask (1 << enum gpu_vendor): those with rules, and
 * NVIDIA, whose other GPUs are hidden from the container. 0 if the policy grants no GPU.
 */
unsigned policy_vendors(const struct policy *p);
/* The vendors that any policy for this caller may concern; 0 if none grants GPUs. */
unsigned policies_vendors(const struct policy_set *s, const struct client *who);

/*
 * The policies for this caller, without the variables that they set, and the broken ones, in order. The
 * caller frees only the array; the rest is borrowed. False if memory is short.
 */
bool policies_of(const struct policy_set *all, const struct client *who, struct policy_set *out);

/* The policy of this name, which must be in the set. */
const struct policy *policy_of_name(const struct policy_set *s, const char *name);

/* True if the rule can give this GPU. */
bool gpu_rule_gives(const struct gpu_rule *r, const struct gpu *g, const struct settings *s);

/* How many GPUs of the rule are given already. */
unsigned give_used(const struct giving *t, const struct gpu_rule *r);
/*
 * Gives «count» of these candidates, which the rule can give. 0, or -1 with *t->why if this caller can't be
 * held to them.
 */
int give_gpus(const struct giving *t, const struct gpu_rule *r, unsigned count, const struct gpu *const *candidate,
    size_t n);

#endif
