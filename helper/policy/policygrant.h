/*
 * What a policy grants to a container, and who asks. Rules and GPUs are borrowed from a policy and an
 * inventory.
 */
#ifndef GPUHELPER_POLICY_POLICYGRANT_H
#define GPUHELPER_POLICY_POLICYGRANT_H

#include "../gpu/pick.h"
#include "policyset.h"
#include "settings.h"

/* The user who runs the worker, by the kernel and /etc/passwd. */
struct client {
	uint32_t uid;
	const char *user;	/* NULL if the uid has no name */
	bool member;		/* root, or in group gpuhelper */
	bool rootful;		/* its runtime can enforce device-cgroup rules (it is rootful) */
};

/* The pipeline, and how it was proven. */
struct identity {
	enum identity_kind kind;	/* IDENTITY_CALLER: no pipeline is known */
	const char *team, *pipeline, *job;	/* job: NULL where unknown */
	const struct instance_vars *instance_vars;	/* NULL: none */
	const char *issuer;		/* of a token */
	const struct claim_set *claims;	/* of a token, those that policies ask about; NULL: none */
};

/* GPUs by one rule: «count» of the «n» candidates. */
struct gpu_want {
	const struct gpu_rule *rule;
	unsigned count;
	const struct gpu *candidate[CANDIDATES_MAX];
	size_t n;
};

/* A folder by one rule; host/folder/folders.c resolves it. */
struct folder_want {
	const struct folder_rule *rule;
	char *path;		/* may contain * and ? in its last component (if the request names no folder) */
	char *target;		/* of the folder or, for a pattern, of its parent */
	char *base;		/* for a folder beneath the rule's (subfolders = true): the rule's folder; else NULL */
	bool writable;
};

#define GRANT_WANTS_MAX (GPU_RULES_MAX + 256)	/* by number, and as many by name as may be requested */

struct grant {
	struct gpu_want *gpu;
	size_t gpus;
	struct folder_want *folder;
	size_t folders;
	unsigned wait;		/* seconds: the least of the rules' and max_wait */
};
void grant_free(struct grant *g);
#define autogrant __attribute__((cleanup(grant_free)))

/*
 * The values differ in many bits, so that no single flipped bit turns one into another (CVE-2023-42465).
 * Compare only with == VERDICT_GRANT.
 */
enum verdict_kind {
	VERDICT_OTHER = 0x5a31,	/* another caller or pipeline */
	VERDICT_LACKS = 0x369c,	/* the pipeline matches, but not all of the request is allowed */
	VERDICT_GRANT = 0xa5ce,
};

struct decision {
	enum verdict_kind verdict;	/* VERDICT_GRANT, or why is filled */
	struct why why;			/* for the client */
	const struct policy *policy;	/* the policy that grants */
	struct inventory inventory;	/* of the policy's vendors, if it grants GPUs */
	struct grant grant;
};
/*
 * Makes the wants of the grant (*wants of them), with the candidates as they would be held. -1 with *why: memory is
 * short. The caller frees the candidates and *out in either case; *wants must be 0 before.
 */
int grant_wants(const struct decision *d, struct pick_want **out, size_t *wants, struct why *why);
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

/* True if the rule can give this GPU. */
bool gpu_rule_gives(const struct gpu_rule *r, const struct gpu *g, const struct settings *s);

/*
 * True if the rule can give this folder; path_check() must have accepted the path, and it has no * or ?.
 * *rest gets the part of the path beneath the rule's target.
 */
bool folder_rule_gives(const struct folder_rule *r, const char *path, const char **rest);

struct giving {
	const struct policy *policy;
	const struct client *who;
	const struct inventory *inv;
	const struct settings *settings;
	struct grant *out;
	struct why *why;
};

/* How many GPUs of the rule are given already. */
unsigned give_used(const struct giving *t, const struct gpu_rule *r);
/*
 * Gives «count» of these candidates, which the rule can give. 0, or -1 with *t->why if this caller can't be
 * held to them.
 */
int give_gpus(const struct giving *t, const struct gpu_rule *r, unsigned count, const struct gpu *const *candidate,
    size_t n);
/*
 * Gives a path that the rule can give; NULL: the rule's own, which may contain * and ?. 0, or -1 with
 * *t->why.
 */
int give_folder(const struct giving *t, const struct folder_rule *r, const char *path, bool writable);

#endif
