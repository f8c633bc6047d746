/* A policy file of /etc/gpuhelper/policy.d: who may have what. */
#ifndef GPUHELPER_POLICY_POLICY_H
#define GPUHELPER_POLICY_POLICY_H

#include "../gpu/gpu.h"
#include "claimset.h"
#include "folderrule.h"
#include "instancevars.h"

/* The proof of the pipeline that a policy requires. */
enum identity_kind {
	IDENTITY_TOKEN,		/* a valid token (the default) */
	IDENTITY_CALLER,	/* the worker's Unix user */
	IDENTITY_CLAIM,		/* the container's own claim */
};
#define IDENTITY_KINDS 3
const char *identity_name(enum identity_kind k);

enum sharing { SHARING_EXCLUSIVE, SHARING_SHARED };

struct gpu_rule {
	unsigned line;
	bool has_vendor;
	enum gpu_vendor vendor;
	char *kind;			/* for rules by CDI kind, "vendor.com/class"; else NULL */
	struct strlist devices;		/* names; empty: all */
	unsigned devices_line;
	unsigned count;			/* most that a container gets by this rule */
	enum sharing sharing;
	unsigned share_limit;		/* shared: containers for each GPU; 0: any number */
	unsigned wait;			/* seconds */
	unsigned capabilities;		/* of enum gpu_capability */
	bool whole_mig;			/* GPUs with MIG instances are given whole, not by instance */
	unsigned nodes;			/* of enum extra_word: nodes of other drivers in a CDI device */
	unsigned nodes_line;
	bool one_channel;		/* of IMEX channels, only «channel» */
	uint32_t channel;
	bool mps;			/* with the control socket of CUDA's Multi-Process Service */
};

#define GPU_RULES_MAX 64
#define QUOTA_MAX 4096
#define PRIORITY_MAX 9
#define PRIORITY_DEFAULT 5
#define FOLDER_RULES_MAX 4096
/* Folders of one container: a limit, because each is recorded and looked at. */
#define CONTAINER_FOLDERS_MAX 1024

struct policy {
	char *name;			/* of the file */
	char *team, *pipeline;		/* patterns; NULL for identity "caller" */
	bool has_jobs;
	struct strlist jobs;		/* patterns */
	struct instance_vars instance_vars;	/* all must be equal; none: any match */
	enum identity_kind identity;
	char *issuer;			/* issuer of tokens; NULL: any of gpuhelper.conf's */
	struct claim_set claims;	/* for each name here, the token has one of its values; strings are patterns */
	bool privileged;		/* its containers may be privileged where privileged = "deny"; for tokens only */
	bool has_callers;
	struct strlist callers;
	struct gpu_rule *gpu;
	size_t gpus;
	unsigned max_gpus;		/* that all containers of the policy hold at once; 0: any number */
	unsigned max_waiting;		/* of its containers and tasks that wait for a GPU; 0: any number */
	unsigned priority;		/* among those that wait: the higher goes first */
	struct folder_rule *folder;
	size_t folders;
	char *selinux_type, *selinux_level;
	struct strlist env;		/* "NAME=value" */
};

void policy_free(struct policy *p);
#define autopolicy __attribute__((cleanup(policy_free)))

#endif
