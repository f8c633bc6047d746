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

/* GPUs by one rule: «count» of the «n» candidates. */
struct gpu_grant {
	const struct gpu_rule *rule;
	unsigned count;
	const struct gpu *candidate[CANDIDATES_MAX];
	size_t n;
};

/* A folder by one rule; host/folder/folders.c resolves it. */
struct folder_grant {
	const struct folder_rule *rule;
	char *path;		/* may contain * and ? in its last component (if the request names no folder) */
	char *target;		/* of the folder or, for a pattern, of its parent */
	char *base;		/* for a folder beneath the rule's (subfolders = true): the rule's folder; else NULL */
	bool writable;
};

#define GRANT_DEMANDS_MAX (GPU_RULES_MAX + 256)	/* by number, and as many by name as may be requested */

struct grant {
	struct gpu_grant *gpu;
	size_t gpus;
	struct folder_grant *folder;
	size_t folders;
	unsigned wait;		/* seconds: the least of the rules' and max_wait */
};
void grant_free(struct grant *g);

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
 * Makes the demands of the grant (*demands of them), with the candidates as they would be held. -1 with *why: memory is
 * short. The caller frees the candidates and *out in either case; *demands must be 0 before.
 */
int grant_demands(const struct decision *d, struct gpu_demand **out, size_t *demands, struct why *why);

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

/*
 * Gives a path that the rule can give; NULL: the rule's own, which may contain * and ?. 0, or -1 with
 * *t->why.
 */
int give_folder(const struct giving *t, const struct folder_rule *r, const char *path, bool writable);

#endif
