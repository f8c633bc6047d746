/*
 * The table of what root's wrapper puts into config.json at the helper's word. If the worker is root, the runtime does
 * with root's rights what config.json says. So the wrapper believes no reply: each change must follow from a file of
 * root's (a policy, gpuhelper.conf, a CDI spec), from the request, or from the host itself. Any other
 * change means that the helper was taken over, or that such a file has just changed.
 *
 * The table does not repeat the decision: a helper that was taken over can still give this container what any policy
 * gives to root, whoever holds that GPU. It can give no other file of the host, no other device, and no other program
 * that runs as root.
 */
#ifndef GPUHELPER_VET_VET_H
#define GPUHELPER_VET_VET_H

#include <limits.h>

#include "../ask/request.h"
#include "../cdi/cdi.h"
#include "../gpu/extranode.h"
#include "../gpu/gpu.h"
#include "../lease/edits.h"
#include "../policy/policy.h"
#include "../policy/settings.h"

/* What is at a path of the host, links to directories resolved. */
struct vet_file {
	char real[PATH_MAX];
	bool plain, socket, program;	/* a file or directory; a socket; a file that can be executed */
	bool roots;			/* only root can change it, and what leads to it */
	bool mps;			/* the directory of NVIDIA's MPS server */
};

/* What is at a node's path. */
struct vet_node {
	struct edit_node node;
	struct extra_node what;	/* «pci» only if that device is a GPU or another accelerator */
	unsigned vendors;		/* of that device, as a mask (1 << enum gpu_vendor); 0: unknown */
	char pci[16], uuid[48];		/* of the GPU whose node it is; "": unknown, or all GPUs have it */
};

/* How to look at the host. Each function returns false if nothing of the kind is at the path. */
struct vet_host {
	bool (*node)(void *host, const char *path, struct vet_node *node);
	bool (*file)(void *host, const char *path, struct vet_file *file);
	bool (*folder)(void *host, const char *path);	/* a directory, which only root can replace */
	void *host;
};

/* A device of a usable CDI spec, which no other spec overrides. */
struct vet_source {
	const struct cdi_edits *edits[2];	/* of its spec, for every device, and its own */
	const char *kind;			/* "vendor.com/class" */
	bool safe_hooks;
	bool granted;				/* it has a granted GPU's node: set by vet_edits() */
};

struct vet {
	const struct edits *edits;		/* to check, as reply_decode() made them */
	const struct request *request;		/* what was asked */
	const struct settings *settings;
	const struct policy *policy;		/* that grants, and lists root */
	struct vet_source *source;
	size_t sources;
	const struct devmajors *majors;
	bool enforcing;				/* SELinux: there must be a label */
	struct vet_host host_view;
};

/* Returns 0 if each change is in the table; or -1 with *why, which names the first that is not. */
int vet_edits(struct vet *v, struct why *why);

/* True if the changes set a variable of the policy, which may be a secret. */
bool vet_sets_secret(const struct edits *e, const struct policy *p);

/*
 * True for a variable («NAME=value») that numbers or names GPUs for a vendor's runtime, or in place of a workload
 * manager's, where gpuhelper.conf says that there is one. Of a task that takes promised GPUs, no others change.
 */
bool vet_names_gpus(const struct settings *s, const char *entry);

#endif
