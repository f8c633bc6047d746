/*
 * VERB_REAP, VERB_RELEASE, VERB_REAPPLY: scans existing leases. Root's request scans all, a user's request
 * that user's own or the released one. The request only prompts the scan: the kernel and the leases tell which leases
 * are over, and what the nodes of the others need.
 */
#include <time.h>

#include "../../host/file.h"
#include "../child/looker.h"
#include "../end/idle.h"
#include "../end/leaseend.h"
#include "../enter/owncgroup.h"
#include "../log/audit.h"
#include "../log/lograte.h"
#include "../node/changes.h"
#include "verb.h"

/* What to do with the leases that live on, under the lock. -1 with reply->why. */
typedef int after_reap(const struct call *c, struct leases *ls, struct reply *reply);

static void
end_over_then(after_reap *after, const struct lease_query *which, const struct peer *peer, const struct request *r,
    struct reply *reply)
{
	autoleases struct leases ls = LEASES_CLOSED;
	autoclose int audit = audit_open(&reply->why);
	const struct call call = { peer, r, audit };

	reply->kind = audit == -1 || leave_cgroup(peer->starter, &reply->why) == -1 ||
	    leases_lock(&ls, peer->client.uid, &reply->why) == -1 || leases_read(&ls, which, &reply->why) == -1 ||
	    leases_reap(&ls, audit, &reply->why) == -1 || after(&call, &ls, reply) == -1 ? REPLY_REFUSED : REPLY_DONE;
}

/* Looks at all leases of the caller, or at all leases for root. Limits how often a user may ask for that. */
static void
end_over_counted(after_reap *after, bool uncounted, const struct peer *peer, const struct request *r,
    struct reply *reply)
{
	const struct lease_query all = { .all = peer->client.uid == 0, .of_user = true, .uid = peer->client.uid };

	if (rate_query(peer->client.uid, time(NULL), uncounted, &reply->why) == -1)
		reply->kind = REPLY_REFUSED;
	else
		end_over_then(after, &all, peer, r, reply);
}

/* An entry of the ledger whose lease is gone, because its file was removed by hand, or the disk was full, is undone. */
static void
record_orphan(void *ctx, const struct ledger_node *n, const struct ledger_entry *e)
{
	const struct call *c = ctx;
	struct record rec = { .event = "orphan", .uid = e->uid };
	struct why why, ignored;

	if (change_is_acl(e->kind))
		refuse(&why, WHY_NONE, "%s: «%s %u», for a lease that is gone, was undone", n->path, change_kinds[e->kind], e->id);
	else
		refuse(&why, WHY_NONE, "%s: «%s», for a lease that is gone, was undone", n->path, change_kinds[e->kind]);
	rec.why = &why;
	(void)audit_write(c->audit, &rec, &ignored);
}

/*
 * Takes GPUs back from idle containers. Root's timer asks for that, because there may be no other request for a long
 * time. Also records how many records were left out for users who no longer ask.
 */
static int
revoke_idle(const struct call *c, struct leases *ls, struct reply *reply)
{
	const struct idle idle = { c, ls, &reply->ops, NULL };
	autoqueue struct queue q = { .dir = -1 };
	struct why ignored;
	bool soon;

	if (c->peer->client.uid == 0) {
		audit_left_out(c->audit);
		/* records those who no longer wait */
		(void)queue_open(&q, c->audit, &ignored);
		(void)changes_undo_orphans(ls, record_orphan, (void *)(uintptr_t)c, &ignored);
	}
	return idle_finish(&idle, NULL, &reply->why) == -1 ? -1 : idle_begin(&idle, NULL, &soon, &reply->why);
}

static int
release_deleted(const struct call *c, struct leases *ls, struct reply *reply)
{
	struct lease *l = leases_find(ls, c->peer->client.uid, c->request->runtime_root, c->request->id);

	if (l == NULL || l->state == LEASE_RELEASING || l->state == LEASE_LEAKED || lease_only_promises(l))
		return 0;
	if (leases_release(ls, l, &reply->why) == -1)
		return -1;
	(void)audit_lease(c->audit, "draining", l);
	return 0;
}

static int
allow_again(const struct call *c, struct leases *ls, struct reply *reply)
{
	const uint32_t uid = c->peer->client.uid;
	struct lease *l;
	size_t i;
	int ret = 0;

	for (i = 0; i < ls->n; i++) {
		l = ls->v[i];
		if ((uid == 0 || uid == l->uid) && !l->scan.over && l->state == LEASE_HELD && !l->planned &&
		    changes_allow_again(l, &reply->why) == -1)
			ret = -1;
	}
	return ret;
}

void
verb_reap(const struct peer *peer, const struct request *r, struct reply *reply)
{
	end_over_counted(revoke_idle, true, peer, r, reply);
	/* without the looker no lease ends; root's timer has the journal for what to do about that */
	if (peer->client.uid == 0 && reply->kind == REPLY_DONE && looker_check(&reply->why) == -1)
		reply->kind = REPLY_REFUSED;
}

void
verb_release(const struct peer *peer, const struct request *r, struct reply *reply)
{
	struct lease_query c = { .all = peer->client.uid == 0 };
	char key[LEASE_KEY_SIZE];

	/* not counted, because containers may end as often as they like; the user's next request scans the other leases */
	lease_key(peer->client.uid, r->runtime_root, r->id, key);
	c.key = key;
	end_over_then(release_deleted, &c, peer, r, reply);
}

void
verb_reapply(const struct peer *peer, const struct request *r, struct reply *reply)
{
	end_over_counted(allow_again, false, peer, r, reply);
}
