/*
 * What a grant will do: the lease that it will be, and the changes to config.json. A plan is made from an authorization
 * in steps: plan_make() before the lock on the leases is taken, picking.h and plangpus.h under it, plan_complete()
 * after it. None of these changes anything on the host but gpuhelper's own files (leases, queue, locks, log); what was
 * done for other leases that are over is undone under the lock (leaseend.h).
 */
#ifndef GPUHELPER_ROOT_GRANT_PLAN_H
#define GPUHELPER_ROOT_GRANT_PLAN_H

#include "../../ask/enginequery.h"
#include "../../ask/reply.h"
#include "../../host/access.h"
#include "../../lease/change.h"
#include "../../policy/grantedgpu.h"
#include "../lease/leaselist.h"
#include "../node/label.h"
#include "authz.h"
#include "leasegpus.h"

/* The caller fills in «authz»; the rest starts as zero. Must not be copied, because «subject» points to the maps. */
struct plan {
	const struct authz *authz;
	struct idmap uids, gids;		/* from the container's ids to this host's */
	struct subject subject;			/* the container's process, in ids of this host */
	struct label label;			/* its categories are final after label_decide() (label.h) */
	struct lease lease;
	struct changes changes;			/* what is to be done to nodes of the host */
	struct edits edits;
	struct granted_gpu picks[GPUS_MAX];	/* one for each GPU of the lease, or that it promises, in the same order */
	size_t picked;
	struct engine_answer answer;		/* what comes with the picks; its «why»: why that is not known */
	struct extra_nodes extra_nodes;		/* the picks' nodes that only CDI specs name */
	/* makes «reply» of the rest, and again when missing nodes were made. -1 with *why */
	int (*write_reply)(struct plan *p, struct why *why);
	char *reply;				/* as it is sent */
	char reply_hash[HASH_SIZE];		/* for the audit log: hex SHA-256 of that */
};

/*
 * Fills in everything that does not depend on which GPUs are picked: ids, label, folders, variables, and the lease's
 * own members. -1 with *why. plan_free() in either case.
 */
int plan_make(struct plan *p, struct why *why);

/*
 * Checks that the folders are still where plan_make() found them. To be called after the lease is written. Before
 * that, a user who could write to a folder on the way could put a link there. After that, no lease is given for such
 * a folder (lookups.h), so that the runtime will find what is found now. -1 with *why.
 */
int plan_check_folders(const struct plan *p, struct why *why);

/*
 * After the GPUs are picked and the label is final: fills in the rest of the edits, and calls
 * plan_name_gpus(). -1 with *why.
 */
int plan_complete(struct plan *p, struct why *why);

/* For write_reply: gives the reply a nonce, and makes its text and the hash of that. -1 with *why. */
int plan_encode_reply(struct plan *p, struct reply *r, struct why *why);

/* Fills in edits.gpus. -1 with *why: memory is short. */
int plan_name_gpus(struct plan *p, struct why *why);

/* True if the container's first process is a program that only pauses, by «placeholder_init» in gpuhelper.conf. */
bool plan_has_placeholder(const struct plan *p);

void plan_free(struct plan *p);
#define autoplan __attribute__((cleanup(plan_free)))

#endif
