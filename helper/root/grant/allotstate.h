/*
 * By what it is decided which GPUs a request gets (allot.h), and what a request without GPUs is told (waitrefusal.h).
 */
#ifndef GPUHELPER_ROOT_GRANT_ALLOTSTATE_H
#define GPUHELPER_ROOT_GRANT_ALLOTSTATE_H

#include "../../ask/identity.h"
#include "../../gpu/drained.h"
#include "../lease/leaselist.h"
#include "../lease/queue.h"

/* A GPU that a process has open without a lease (unleased.h). Nobody gets it exclusively. */
struct unleased_use {
	struct held_gpu gpu;
	pid_t pid;		/* the process; -pid if it only may have the GPU open (look/nodeholders.h) */
};

struct unleased {
	struct unleased_use *v;
	size_t n;
};

/* The state by which allot() picks GPUs. */
struct allot_state {
	const struct leases *leases;
	const struct queue *queue;
	const struct unleased *unleased;
	const struct drained *drained;	/* GPUs that are out of service */
	const struct decision *decision;
	const struct identity *who;	/* who asks */
	bool task;			/* a task asks: the text of a refusal is for its log */
};

#endif
