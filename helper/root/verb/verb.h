/*
 * What the helper can be asked: a row of the table for each verb (request.h). Each function fills in *reply, which must
 * be a refusal without a reason before.
 */
#ifndef GPUHELPER_ROOT_VERB_VERB_H
#define GPUHELPER_ROOT_VERB_VERB_H

#include "../../ask/request.h"
#include "../../ask/reply.h"

struct peer;

struct verb_row {
	/* NULL for VERB_GRANT, whose changes outlive the reply (grant.h), and for what is no verb */
	void (*run)(const struct peer *peer, const struct request *r, struct reply *reply);
	/* the children that it may need: what can't be done without one of them is refused, with the reason */
	bool needs_look;		/* gpuhelper-look, gpuhelper-label */
	bool needs_judge;		/* gpuhelper-judge, gpuhelper-engine, gpuhelper-read */
	bool after_grant;		/* may come on the connection of a grant, after it */
};

/* The row of a verb of request_decode(), or of request_hint(): what is unknown yet may need all children. */
const struct verb_row *verb_find(int verb);

/*
 * VERB_CREATED (created.c): the runtime that the peer started has made the container. Finds the container's first
 * process and its cgroups, and writes them into the lease. Refused if the peer has no lease for it, or if the process
 * can't be found: then the container must not run. REPLY_BUSY if somebody else has its GPU open, or nobody has looked
 * (latescan.h): then the peer is to delete the container, and to ask for it again, with scan_first.
 */
void verb_created(const struct peer *peer, const struct request *r, struct reply *reply);

/*
 * VERB_EXEC (execlog.c): the peer is about to become a runtime that puts a process into the container. Records that.
 * The reply's text tells what the process has of GPUs that were promised. Needs none of the helper's children.
 */
void verb_exec(const struct peer *peer, const struct request *r, struct reply *reply);

/*
 * VERB_TASK (task.c): a process in the container waits for the GPUs that were promised. Acquires them for it, or gives
 * it a position in the queue (REPLY_BUSY). The peer then opens the container's access to them (callerop.h).
 */
void verb_task(const struct peer *peer, const struct request *r, struct reply *reply);

/*
 * VERB_OVER (taskover.c): that process has ended. Gives its position in the queue up, or begins to revoke its GPUs. The
 * reply says when to ask that again.
 */
void verb_over(const struct peer *peer, const struct request *r, struct reply *reply);

/*
 * VERB_REAP (leaseverbs.c): ends the leases that are over. For root, also takes GPUs back from containers whose task is
 * over.
 */
void verb_reap(const struct peer *peer, const struct request *r, struct reply *reply);

/*
 * VERB_RELEASE (leaseverbs.c): as verb_reap(), but a user's request looks at this container alone. If the container is
 * still in use, takes back the access that its lease gave it, and the lease is releasing.
 */
void verb_release(const struct peer *peer, const struct request *r, struct reply *reply);

/*
 * VERB_REAPPLY (leaseverbs.c): as verb_reap(), and repairs the nodes of live leases: the caller's own, or all for root.
 */
void verb_reapply(const struct peer *peer, const struct request *r, struct reply *reply);

/* VERB_STATUS (tellstatus.c): lists leases and queued requests: the caller's own, or all for root. Changes nothing. */
void verb_status(const struct peer *peer, const struct request *r, struct reply *reply);

/*
 * VERB_REFUSED, VERB_PLAIN (recordonly.c): records that the wrapper refused a container or made a plain one by itself.
 */
void verb_note(const struct peer *peer, const struct request *r, struct reply *reply);

#endif
