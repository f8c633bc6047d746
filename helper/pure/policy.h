/* One policy file of /etc/gpuhelper/policy.d: who gets what. */
#ifndef GPUHELPER_PURE_POLICY_H
#define GPUHELPER_PURE_POLICY_H

#include <jansson.h>

#include "conf.h"
#include "gpu.h"

/* How the pipeline has to be proven. */
enum identity_kind {
	IDENTITY_TOKEN,		/* a token that its issuer signed (the default) */
	IDENTITY_CALLER,	/* the worker's own Unix user is the identity */
	IDENTITY_CLAIM,		/* the container's word is taken for it */
};
const char *identity_name(enum identity_kind k);

enum sharing { SHARING_EXCLUSIVE, SHARING_SHARED };

struct gpu_rule {
	unsigned line;
	bool has_vendor;
	enum gpu_vendor vendor;
	struct strlist devices;		/* names; empty: all */
	unsigned count;			/* most that one container gets of this rule */
	enum sharing sharing;
	unsigned share_limit;		/* containers a GPU; 0: no limit (shared only) */
	unsigned wait;			/* seconds */
	unsigned capabilities;		/* of enum gpu_capability */
	bool whole_mig;			/* GPUs with MIG instances are given as a whole, and not by instances */
};

struct folder_rule {
	unsigned line;
	char *path;			/* the last component may have * and ? */
	bool writable;
	char *target;			/* in the container; NULL: path */
	bool subfolders;		/* one beneath it may be asked for */
	bool submounts;			/* mounts beneath come along */
};

struct policy {
	char *name;			/* of the file */
	char *team, *pipeline;		/* patterns; NULL for identity "caller" */
	bool has_jobs;
	struct strlist jobs;		/* patterns */
	json_t *instance_vars;		/* object: each named one must be equal; NULL: any */
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

/*
 * Parses one file.  False: *f says all that is wrong, with lines, and *p is not
 * to be used.  policy_free() in either case.
 */
bool policy_parse(const char *name, const char *text, size_t len, struct policy *p, struct faults *f);
void policy_free(struct policy *p);
#define autopolicy __attribute__((cleanup(policy_free)))

#endif
