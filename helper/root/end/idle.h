/*
 * Revokes GPUs of containers whose task is over (leasetasks.h). That takes two requests, because ending a container's
 * access to its nodes needs rights that the helper does not keep. The first request sets the lease to LEASE_REVOKING,
 * and tells root's wrapper what to do (callerop.h). The second sees whether that was done, and frees the GPUs. All this
 * happens under the lock on the leases, without anything that a user could delay.
 */
#ifndef GPUHELPER_ROOT_END_IDLE_H
#define GPUHELPER_ROOT_END_IDLE_H

#include "../enter/call.h"
#include "../lease/leaselist.h"
#include "../lease/queue.h"

struct idle {
	const struct call *call;
	struct leases *leases;
	struct caller_ops *ops;		/* gets the operations for the peer */
	const char *policy;		/* revoke GPUs of its containers only; NULL: from all */
};

/*
 * Frees the GPUs of containers whose device rules, says the peer, deny the nodes now, if that is so and no process came
 * meanwhile. Of containers that were promised GPUs which «queued» demands (NULL: all containers), also checks that they
 * can open no more than their leases say (scan.has_access). -1 with *why: memory is short.
 */
int idle_finish(const struct idle *i, const struct queued *queued, struct why *why);

/*
 * Begins to revoke the GPUs that are wanted (NULL: any) from idle containers. *soon: some of them are being
 * revoked already, for this request or another. -1 with *why: a state could not be written.
 */
int idle_begin(const struct idle *i, const struct queued *queued, bool *soon, struct why *why);

/*
 * Frees the lease's GPUs: undoes the changes that give access, and leaves the promise. Records that in the audit log;
 * audit -1: records nothing, because the grant was never recorded. Returns -1 with *why: the lease stays as it is.
 */
int idle_return_gpus(struct leases *ls, struct lease *l, int audit, struct why *why);

/* Adds an operation for this lease's container, for the process «by» to do (callerop.h). False: memory is short. */
bool caller_ops_add_for(struct caller_ops *c, enum op_kind kind, const struct lease *l, struct process_id by);

/* Finds out how idle a container is now. Its lease must have «gpus_by_task». */
enum idleness idle_classify(const struct lease *l);

#endif
