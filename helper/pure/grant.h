/*
 * What a container gets by a policy, and who asks for it.  Rules and GPUs are borrowed, of a policy and an inventory.
 */
#ifndef GPUHELPER_PURE_GRANT_H
#define GPUHELPER_PURE_GRANT_H

#include "policyset.h"
#include "settings.h"

/* Who runs the worker, as the kernel and /etc/passwd say. */
struct asker {
	uint32_t uid;
	const char *user;	/* NULL where the uid has no name */
	bool member;		/* root, or in group gpuhelper */
	bool enforced;		/* its runtime can hold containers to device-cgroup rules (it is rootful) */
};

/* Which pipeline it is, and how that is known. */
struct identity {
	enum identity_kind kind;	/* IDENTITY_CALLER: no pipeline is known */
	const char *team, *pipeline, *job;	/* job: NULL where unknown */
	const struct instance_vars *instance_vars;	/* NULL: none */
	const char *issuer;		/* of a token */
};

/* GPUs to be had by one rule: «count» of the «n» candidates. */
#define CANDIDATES_MAX 64
struct gpu_want {
	const struct gpu_rule *rule;
	unsigned count;
	const struct gpu *candidate[CANDIDATES_MAX];
	size_t n;
};

/* A folder to be had; host/folders.c resolves it. */
struct folder_want {
	const struct folder_rule *rule;
	char *path;		/* may have * and ? in its last component (where nothing was asked for) */
	char *target;		/* of the folder itself, or, for a pattern, of its parent */
	char *base;		/* where subfolders = true let it be asked for: the rule's own folder; else NULL */
	bool writable;
};

struct grant {
	struct gpu_want *gpu;
	size_t gpus;
	struct folder_want *folder;
	size_t folders;
	unsigned wait;		/* seconds, the least of the rules used and max_wait */
};
void grant_free(struct grant *g);
#define autogrant __attribute__((cleanup(grant_free)))

/*
 * Neighbouring values differ in many bits, so that no single flipped bit turns
 * one into another (CVE-2023-42465); compare with == VERDICT_GRANT only.
 */
enum verdict_kind {
	VERDICT_OTHER = 0x5a31,	/* not its caller or not its pipeline */
	VERDICT_LACKS = 0x369c,	/* its pipeline, but it does not allow all of this */
	VERDICT_GRANT = 0xa5ce,
};

struct decision {
	enum verdict_kind verdict;	/* VERDICT_GRANT, or why is filled */
	struct why why;			/* what to tell who asked */
	const struct policy *policy;	/* the one that granted */
	struct inventory inventory;	/* of the vendors it speaks of, where it gives GPUs */
	struct grant grant;
};
void decision_free(struct decision *d);
#define autodecision __attribute__((cleanup(decision_free)))

/*
 * What a policy can give at all, to whoever asks for whatever.  gpuhelper-judge decides what of it a container gets;
 * the helper has these functions add up what the judge decided, so that it is no more.
 */

/* Is the policy about this caller?  Else *why says what differs. */
bool policy_lists(const struct policy *p, const struct asker *who, struct why *why);
/* Is this the proof that it asks for?  Whose pipeline it is plays no part. */
bool policy_takes(const struct policy *p, const struct identity *id, struct why *why);

/*
 * The vendors of whose GPUs a grant of the policy's goes by, as a mask (1 << enum gpu_vendor): those that it has rules
 * for, and NVIDIA, whose other GPUs are hidden from the container.  0: it gives no GPU.
 */
unsigned policy_vendors(const struct policy *p);
/* What a request of this caller's that may be any policy's needs to know of; 0: none of them gives GPUs. */
unsigned policies_vendors(const struct policy_set *s, const struct asker *who);

/*
 * Those that list this caller, without the variables that they set, and those that are broken; in the same order.  All
 * but the array is borrowed, which the caller frees.  False: no memory.
 */
bool policies_of(const struct policy_set *all, const struct asker *who, struct policy_set *out);

/* May this rule give this GPU? */
bool gpu_rule_gives(const struct gpu_rule *r, const struct gpu *g, const struct settings *s);

/*
 * May this rule of a folder give this path, which path_check() takes and which has no * or ?.  *rest is the part of it
 * after the place that «target» stands for.
 */
bool folder_rule_gives(const struct folder_rule *r, const char *path, const char **rest);

struct giving {
	const struct policy *policy;
	const struct asker *who;
	const struct inventory *inv;
	const struct settings *settings;
	struct grant *out;
	struct why *why;
};

/* How many GPUs of a rule are given already. */
unsigned give_used(const struct giving *t, const struct gpu_rule *r);
/* «count» of these candidates, which the rule gives.  -1 with *t->why: this caller can't be held to them. */
int give_gpus(const struct giving *t, const struct gpu_rule *r, unsigned count, const struct gpu *const *candidate,
    size_t n);
/* A path that the rule gives; NULL: its own, which may have * and ?.  -1 with *t->why. */
int give_folder(const struct giving *t, const struct folder_rule *r, const char *path, bool writable);

#endif
