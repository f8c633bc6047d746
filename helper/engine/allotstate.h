/*
 * By what it is decided which GPUs a request gets (allot.h), and what a request without GPUs is told (waitrefusal.h).
 */
#ifndef GPUHELPER_ENGINE_ALLOTSTATE_H
#define GPUHELPER_ENGINE_ALLOTSTATE_H

#include "../ask/pickask.h"
#include "../gpu/drained.h"

struct allot_state {
	const struct pick_ask *ask;
	const struct decision *decision;	/* its candidates are those of ask->from */
	const struct pick_want *want;		/* the same, as they would be held (grant_wants()) */
	size_t wants;
	const struct drained *drained;		/* GPUs that are out of service */
	const struct identity *who;		/* who asks */
};

#endif
