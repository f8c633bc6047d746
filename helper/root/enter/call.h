/* One call of the helper: the peer, its request, and the audit log for the record. */
#ifndef GPUHELPER_ROOT_ENTER_CALL_H
#define GPUHELPER_ROOT_ENTER_CALL_H

#include "../../ask/request.h"
#include "peer.h"

/* The first of the values that a grant goes through: call, authz (authz.h), plan (plan.h), changes (grant.h). */
struct call {
	const struct peer *peer;
	const struct request *request;
	int audit;		/* from audit_open(), whose caller closes it; -1: not open */
};

/* The process that asks. */
static inline struct process_id
call_process(const struct call *c)
{
	return (struct process_id){ c->peer->pid, c->peer->start };
}

/* True for a task that asks for its GPUs before its process is there (VERB_TASK without a waiter). */
static inline bool
call_is_early(const struct call *c)
{
	return c->request->verb == VERB_TASK && c->request->waiter.pid == 0;
}

#endif
