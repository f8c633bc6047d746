/* One call of the helper: who asks for what, and the audit log that the answer is recorded in. */
#ifndef GPUHELPER_ROOT_CALL_H
#define GPUHELPER_ROOT_CALL_H

#include "../pure/request.h"
#include "peer.h"

/* The first of the values that a grant goes through: call, ruling (ruling.h), plan (plan.h), traces (grant.h). */
struct call {
	const struct peer *peer;
	const struct request *request;
	int audit;		/* of audit_open(), which whoever called that closes; -1: not open */
};

/* The process that asks. */
static inline struct process_id
call_process(const struct call *c)
{
	return (struct process_id){ c->peer->pid, c->peer->start };
}

#endif
