/*
 * VERB_OVER: a process that waited for a container's promised GPUs, or had them, has ended. The request only prompts
 * the scan: the kernel shows whether that is so. Root's wrapper asks this until the GPUs are free; if it is killed,
 * root's timer and other requests do the same (idle.h).
 */
#include "../../host/clock.h"
#include "../../host/file.h"
#include "../../host/process/process.h"
#include "../end/idle.h"
#include "../end/leaseend.h"
#include "../enter/owncgroup.h"
#include "../log/audit.h"
#include "verb.h"

#define AGAIN_MS 1000		/* for a scan of a container that is in use, by a hijack for instance */
#define SOON_MS 50		/* while another process changes the lease */

/* Takes the position away of a task that waited, unless it lives. */
static int
leave_queue(const struct call *c, const char *key, struct why *why)
{
	autoqueue struct queue q = { .dir = -1 };
	size_t position;

	if (queue_open(&q, c->audit, why) == -1)
		return -1;
	position = queue_position(&q, key);
	/* its process may be a zombie, which still has its number */
	if (position < q.n && q.v[position].task.pid != 0 && !process_id_lives(q.v[position].task))
		queue_abandon(&q, key, c->audit);
	return 0;
}

/* Milliseconds until the peer should ask again; 0: nothing is left to do. */
static unsigned
next_request(const struct lease *l, bool gives)
{
	int64_t ms;

	if (l == NULL || !l->gpus_by_task || l->scan.over || lease_only_promises(l) || l->state == LEASE_RELEASING)
		return 0;
	if (gives || l->state != LEASE_HELD)
		return SOON_MS;
	if (l->tasks.left_since == 0)
		return AGAIN_MS;
	ms = left_remains(&l->tasks, clock_ms());
	return ms > 0 && ms < AGAIN_MS ? (unsigned)ms : AGAIN_MS;
}

static int
ask_again_in(const struct call *c, struct leases *ls, struct reply *reply)
{
	const struct peer *peer = c->peer;
	const struct idle idle = { c, ls, &reply->ops, NULL };
	struct lease *l;
	bool soon;

	if (idle_finish(&idle, NULL, &reply->why) == -1 || idle_begin(&idle, NULL, &soon, &reply->why) == -1)
		return -1;
	l = leases_find(ls, peer->client.uid, c->request->runtime_root, c->request->id);
	reply->retry_ms = next_request(l, reply->ops.n > 0);
	return 0;
}

void
verb_over(const struct peer *peer, const struct request *r, struct reply *reply)
{
	autoleases struct leases ls = LEASES_CLOSED;
	autoclose int audit = audit_open(&reply->why);
	const struct call c = { peer, r, audit };
	char key[LEASE_KEY_SIZE];
	/* also reads the leases of containers whose nodes the peer says it has closed; only root can have done that */
	const struct lease_query which = { .key = key, .keys = peer->client.uid == 0 ? &r->retry.revoked : NULL };

	lease_key(peer->client.uid, r->runtime_root, r->id, key);
	reply->kind = audit == -1 || leave_cgroup(peer->starter, &reply->why) == -1 ||
	    leases_lock(&ls, peer->client.uid, &reply->why) == -1 || leave_queue(&c, key, &reply->why) == -1 ||
	    leases_read(&ls, &which, &reply->why) == -1 || leases_reap(&ls, audit, &reply->why) == -1 ||
	    ask_again_in(&c, &ls, reply) == -1 ? REPLY_REFUSED : REPLY_DONE;
	if (reply->kind == REPLY_REFUSED && reply->why.code == WHY_AGAIN)
		reply->kind = REPLY_BUSY;
}
