/*
 * By what it is decided which GPUs a request gets (allocate.h), and what a request without GPUs is told
 * (gpuholders.h).
 */
#ifndef GPUHELPER_ENGINE_ALLOCATION_H
#define GPUHELPER_ENGINE_ALLOCATION_H

#include "../ask/pickquery.h"
#include "../gpu/drained.h"
#include "../policy/policydecide.h"

struct allocation {
	const struct pick_query *ask;
	const struct decision *decision;	/* its candidates are those of ask->from */
	const struct gpu_demand *demand;		/* the same, as they would be held (grant_demands()) */
	size_t demands;
	const struct drained *drained;		/* GPUs that are out of service */
	const struct identity *who;		/* who asks */
};

#endif
