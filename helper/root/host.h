/*
 * What GPUs the host has: as gpuhelper-judge sees it (judge.h), checked (pure/hostcheck.h), with what the helper reads
 * by itself in /proc.
 */
#ifndef GPUHELPER_ROOT_HOST_H
#define GPUHELPER_ROOT_HOST_H

#include "../host/cdidirs.h"
#include "../pure/gpu.h"

struct host {
	bool looked;
	unsigned vendors;		/* that were looked for, as a mask */
	struct inventory inventory;	/* with the names that the CDI specs have */
	struct cdi_registry specs;	/* where GPUs were looked for */
	struct why why;			/* why there is nothing of all that, nor any vendor; WHY_NONE: it is there */
};

/*
 * Has the judge look, once and before it hears anything else, for GPUs of the vendors in the mask (1 << enum
 * gpu_vendor), and names them by the CDI specs.  To be called when leave_cgroup() (owncgroup.h) has been: the kernel
 * shows GPUs as the cgroup's device rules are.
 */
void host_look(unsigned vendors);

/* What was found.  Before host_look() it is empty. */
const struct host *host_seen(void);

#endif
