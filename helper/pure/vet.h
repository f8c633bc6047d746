/*
 * The table of what root's wrapper puts into config.json at the helper's word. If the worker is root, the runtime does
 * with root's rights what config.json says. So the wrapper believes no reply: each change must follow from a file of
 * root's (a policy, gpuhelper.conf, a CDI spec), from the request, or from the host itself. A change that does not
 * means that the helper was taken over, or that such a file has just changed.
 *
 * The table does not repeat the decision: a taken-over helper can still give this container what any policy gives to
 * root. It can give no other file of the host, no other device, and no program that runs as root.
 */
#ifndef GPUHELPER_PURE_VET_H
#define GPUHELPER_PURE_VET_H

#include <limits.h>

#include "cdi.h"
#include "edits.h"
#include "furthernode.h"
#include "gpu.h"
#include "policy.h"
#include "request.h"
#include "settings.h"

/* What is at a path of the host, links to directories resolved. */
struct vet_file {
	char real[PATH_MAX];
	bool plain, socket, program;	/* a file or directory; a socket; a file that can be executed */
	bool roots;			/* only root can change it, and what leads to it */
	bool mps;			/* the directory of NVIDIA's MPS server */
};

/* How to look at the host. Each function returns false if nothing of the kind is at the path. */
struct vet_look {
	bool (*node)(void *host, const char *path, struct edit_node *node, struct further_node *what);
	bool (*file)(void *host, const char *path, struct vet_file *file);
	bool (*folder)(void *host, const char *path);	/* a directory, which only root can replace */
	void *host;
};

/* The changes of one device of a usable CDI spec, or of the whole spec. */
struct vet_source {
	const struct cdi_edits *edits;
	bool safe_hooks;
};

struct vet {
	const struct edits *edits;		/* to check, as reply_decode() made them */
	const struct request *request;		/* what was asked */
	const struct settings *settings;
	const struct policy *policy;		/* that grants, and lists root */
	const struct vet_source *source;
	size_t sources;
	const struct devmajors *majors;
	bool enforcing;				/* SELinux: there must be a label */
	struct vet_look look;
};

/* Returns 0 if each change is in the table; or -1 with *why (WHY_BUG), which names the first that is not. */
int vet_edits(const struct vet *v, struct why *why);

/*
 * True for a variable («NAME=value») that numbers or names GPUs for a vendor's runtime, or in place of a workload
 * manager's, where gpuhelper.conf says that there is one. Of a task that takes promised GPUs, no others change.
 */
bool vet_names_gpus(const struct settings *s, const char *entry);

#endif
