/* One policy file of /etc/gpuhelper/policy.d: who gets what. */
#ifndef GPUHELPER_PURE_POLICY_H
#define GPUHELPER_PURE_POLICY_H

#include "folderrule.h"
#include "gpu.h"
#include "instancevars.h"

/* How the pipeline has to be proven. */
enum identity_kind {
	IDENTITY_TOKEN,		/* a token that its issuer signed (the default) */
	IDENTITY_CALLER,	/* the worker's own Unix user is the identity */
	IDENTITY_CLAIM,		/* the container's word is taken for it */
};
#define IDENTITY_KINDS 3
const char *identity_name(enum identity_kind k);

enum sharing { SHARING_EXCLUSIVE, SHARING_SHARED };

struct gpu_rule {
	unsigned line;
	bool has_vendor;
	enum gpu_vendor vendor;
	char *kind;			/* of CDI devices, "vendor.com/class", instead of a vendor; else NULL */
	struct strlist devices;		/* names; empty: all */
	unsigned devices_line;
	unsigned count;			/* most that one container gets of this rule */
	enum sharing sharing;
	unsigned share_limit;		/* containers a GPU; 0: no limit (shared only) */
	unsigned wait;			/* seconds */
	unsigned capabilities;		/* of enum gpu_capability */
	bool whole_mig;			/* GPUs with MIG instances are given as a whole, and not by instances */
	unsigned nodes;			/* of enum further_word: nodes of other drivers, where a CDI device has them */
	unsigned nodes_line;
	bool mps;			/* the control socket of CUDA's Multi-Process Service comes along */
};

#define GPU_RULES_MAX 64
#define FOLDER_RULES_MAX 4096
/* Folders that one container gets: what is written down of them, and looked at for each, has an end. */
#define CONTAINER_FOLDERS_MAX 1024

struct policy {
	char *name;			/* of the file */
	char *team, *pipeline;		/* patterns; NULL for identity "caller" */
	bool has_jobs;
	struct strlist jobs;		/* patterns */
	struct instance_vars instance_vars;	/* each of them must be equal; none: any */
	enum identity_kind identity;
	char *issuer;			/* whose tokens; NULL: any of gpuhelper.conf's */
	bool has_callers;
	struct strlist callers;
	struct gpu_rule *gpu;
	size_t gpus;
	struct folder_rule *folder;
	size_t folders;
	char *selinux_type, *selinux_level;
	struct strlist env;		/* "NAME=value" */
};

void policy_free(struct policy *p);
#define autopolicy __attribute__((cleanup(policy_free)))

/* What the rule's GPUs are of, for a message: "nvidia", or the CDI kind. */
const char *gpu_rule_vendor(const struct gpu_rule *r);
/* The vendors that its GPUs may be of, as a mask for gpus_find(). */
unsigned gpu_rule_vendors(const struct gpu_rule *r);
/* Does it speak of this GPU by one of its names, or of all? */
bool gpu_rule_names(const struct gpu_rule *r, const struct gpu *g);
/* The same for one word of its «devices». */
bool gpu_rule_means(const struct gpu_rule *r, const char *device, const struct gpu *g);
/*
 * Of the GPU's names in CDI specs the first by which the rule gives it; for a
 * rule of a plain vendor cdi_name_of() any.  NULL: none.
 */
const char *gpu_rule_cdi_name(const struct gpu_rule *r, const struct gpu *g);

#endif
