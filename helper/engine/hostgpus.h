/*
 * The GPUs of the host: what gpuhelper-judge reports (tojudge.h), after ask/hostcheck.h has checked it, what the CDI
 * specs say of them, and what gpuhelper-engine itself reads in /proc.
 */
#ifndef GPUHELPER_ENGINE_HOSTGPUS_H
#define GPUHELPER_ENGINE_HOSTGPUS_H

#include "../ask/authzquery.h"
#include "../host/driver/cdidirs.h"

/* Begins as zero; nothing frees it, because the program ends with it. */
struct host {
	bool was_asked;
	unsigned vendors;		/* mask of the vendors that were looked for */
	struct cdi_registry specs;
	enum answer_state read;		/* gpuhelper-read's answer about the specs */
	struct inventory inventory;	/* with the names that the specs give to the GPUs */
	struct why why;			/* why the rest is empty; WHY_NONE: it is filled in */
};

/*
 * Has the judge look for GPUs of the vendors in the mask (1 << enum gpu_vendor), once, and before any other question to
 * it.
 */
void host_ask_gpus(struct host *h, unsigned vendors);

/* The GPU that was at this place of the judge's report, by which the helper names it. NULL: *inv has none. */
const struct gpu *host_gpu_at(const struct inventory *inv, uint32_t place);

#endif
