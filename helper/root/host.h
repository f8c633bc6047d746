/*
 * The GPUs of the host: what gpuhelper-judge reports (judge.h), checked (pure/hostcheck.h), and what the helper itself
 * reads in /proc.
 */
#ifndef GPUHELPER_ROOT_HOST_H
#define GPUHELPER_ROOT_HOST_H

#include "../host/cdidirs.h"
#include "../pure/gpu.h"

struct host {
	bool asked, looked;
	unsigned vendors;		/* that were looked for, as a mask */
	struct inventory inventory;	/* with the names that CDI specs give to the GPUs */
	struct cdi_registry specs;	/* where GPUs were looked for */
	struct why why;			/* why the rest is empty; WHY_NONE: it is filled in */
};

/*
 * Has the judge begin to look for all GPUs, or with !gpus for none, once, and before it is asked anything else: it can
 * look while the policies are read.  To be called after leave_cgroup() (owncgroup.h): the kernel may show only the GPUs
 * that the device rules of the reader's cgroup allow.
 */
void host_begin(bool gpus);

/*
 * Takes what the judge has seen, of the vendors in the mask (1 << enum gpu_vendor); then reads the CDI specs, which
 * name the GPUs.  Once.
 */
void host_look(unsigned vendors);

/* What was found; empty before host_look(). */
const struct host *host_seen(void);

#endif
