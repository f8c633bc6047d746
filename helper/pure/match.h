/* The decision: does this policy cover that container, and does it allow all that is asked for? */
#ifndef GPUHELPER_PURE_MATCH_H
#define GPUHELPER_PURE_MATCH_H

#include "asked.h"
#include "policy.h"
#include "policyset.h"
#include "request.h"
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
struct gpu_want {
	const struct gpu_rule *rule;
	unsigned count;
	const struct gpu *candidate[64];
	size_t n;
};

/* A folder to be had; host/folders.c resolves it. */
struct folder_want {
	char *path;		/* may have * and ? in its last component (where nothing was asked for) */
	char *target;		/* of the folder itself, or, for a pattern, of its parent */
	char *base;		/* where subfolders = true let it be asked for: the rule's own folder; else NULL */
	bool writable, submounts;
	enum relabel relabel;
};

struct grant {
	struct gpu_want *gpu;
	size_t gpus;
	struct folder_want *folder;
	size_t folders;
	unsigned wait;		/* seconds, the least of the rules used and max_wait */
};

/*
 * Neighbouring values differ in many bits, so that no single flipped bit turns
 * one into another (CVE-2023-42465); compare with == VERDICT_GRANT only.
 */
enum verdict {
	VERDICT_OTHER = 0x5a31,	/* not its caller or not its pipeline */
	VERDICT_LACKS = 0x369c,	/* its pipeline, but it does not allow all of this */
	VERDICT_GRANT = 0xa5ce,
};

/* True if the policy is about this caller and this pipeline; else *why says what differs. */
bool policy_covers(const struct policy *p, const struct asker *who, const struct identity *id, struct why *why);

/*
 * Of a policy that is about this caller and this pipeline, and still does not cover the container: what of it the
 * policy is not for; else NULL.
 */
const char *policy_misses(const struct policy *p, const struct asker *who, const struct identity *id);

/*
 * For a policy that covers: VERDICT_GRANT with *out filled, or VERDICT_LACKS
 * with *why.  Free or busy GPUs play no part.  grant_free() in either case.
 */
enum verdict policy_allows(const struct policy *p, const struct asker *who, const struct ask *ask,
    const struct inventory *inv, const struct settings *settings, struct grant *out, struct why *why);

/* The vendors that the policy speaks of, as a mask for gpus_find(). */
unsigned policy_vendors(const struct policy *p);
/* What a request that may be any policy's needs to know of; 0: none of them gives GPUs. */
unsigned policies_vendors(const struct policy_set *s);

void grant_free(struct grant *g);
#define autogrant __attribute__((cleanup(grant_free)))

#endif
