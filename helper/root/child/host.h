/*
 * The GPUs of the host: what gpuhelper-judge reports (judge.h), after ask/hostcheck.h has checked it, and what the
 * helper itself reads in /proc.
 */
#ifndef GPUHELPER_ROOT_CHILD_HOST_H
#define GPUHELPER_ROOT_CHILD_HOST_H

#include "../../gpu/gpu.h"

struct host {
	bool was_asked;
	unsigned vendors;		/* mask of the vendors that were looked for */
	struct inventory inventory;	/* with the names that CDI specs give to the GPUs */
	struct why why;			/* why the rest is empty; WHY_NONE: it is filled in */
};

/*
 * Has the judge look for GPUs of the vendors in the mask (1 << enum gpu_vendor), once, and before any other question to
 * it. Has gpuhelper-engine (engine.h) name the GPUs by the CDI specs. To be called after leave_cgroup() (owncgroup.h):
 * the kernel may show only the GPUs that the device rules of the reader's cgroup allow.
 */
void host_ask_gpus(unsigned vendors);

/* What host_ask_gpus() found; empty before that. */
const struct host *host_found(void);

#endif
