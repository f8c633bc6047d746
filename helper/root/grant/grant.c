/*
 * See grant.h. A grant is made in four steps. Each makes a value from the earlier ones, and reads these; the last one
 * also notes in the plan which nodes it had to make (giveaccess.c):
 *	call	the peer and its request		call.h
 *	authz	the decision, and the policy behind it	authz.c
 *	plan	the lease and the edits			plan.c, picking.c, plangpus.c
 *	changes	what was changed on the host		this file, giveaccess.c
 * The order of the changes: the lease is written, the token is bound, the audit log gets its record, and only then are
 * nodes and folders that the container may use now. A refusal (refusal.h) ends the grant at any step.
 */
#include "grant.h"

#include <stdio.h>

#include "../../host/file.h"
#include "../end/leaseend.h"
#include "../lease/usedtoken.h"
#include "../log/audit.h"
#include "../node/askrelabel.h"
#include "../node/devchar.h"
#include "giveaccess.h"
#include "picking.h"

/*
 * A grant of GPUs is recorded under the lock, after a check that the lease still exists: another process may have ended
 * it and granted its GPU to another container, and no record of the lease may follow that of its end.
 */
static int
record_grant(const struct plan *p, struct refusal *f)
{
	const struct authz *authz = p->authz;
	const struct call *c = authz->call;
	const struct record rec = { .event = lease_only_promises(&p->lease) ? "promise" : "grant", CLIENT_OF(c->peer),
		.request = c->request, .whose = &authz->whose, .policy = authz->decision.policy->name,
		.gpus = &p->edits.gpus, .waited = p->lease.tasks.waited, .edits = &p->edits, .changes = &p->changes,
		.reply = p->reply_hash };
	autoleases struct leases ls = LEASES_CLOSED;
	struct audit_line line;
	int ret;

	if ((ret = audit_prepare(c->audit, &rec, RATE_GRANT, &line, &f->why)) == 0) {
		/*
		 * Waits for the lock as long as a helper that takes a lease back. If this helper does not get the lock, it
		 * must take its own lease back.
		 */
		if (p->picked > 0 && (ret = leases_lock_as_holder(&ls, c->peer->client.uid, &f->why)) == -1)
			f->retry = f->why.code == WHY_AGAIN ? RETRY_IN_WAIT : RETRY_NOT;	/* as in picking.c */
		if (ret == 0 && (p->picked == 0 || (ret = check_planned(&p->lease, &ls, &f->why)) == 0))
			ret = audit_append(c->audit, &line, &f->why);
		leases_close(&ls);
	}
	audit_line_end(c->audit, &line);
	return ret;
}

static int
write_reply(struct plan *p, struct why *why)
{
	/* lends the edits to the reply */
	struct reply r = { .kind = REPLY_GRANT, .edits = p->edits };

	snprintf(r.policy, sizeof(r.policy), "%s", p->authz->decision.policy->name);
	return plan_encode_reply(p, &r, why);
}

/*
 * Takes back a grant that is not in the log, and that has given access to nothing yet. False: the lease stays for a
 * while.
 */
static bool
drop_unrecorded(const struct call *c, const struct host_changes *t)
{
	struct why ignored;

	return t->lease[0] == '\0' ||
	    leases_drop(c->peer, c->request->runtime_root, c->request->id, t->used_token, NULL, &ignored) != -1;
}

static int
bind_token(const struct plan *p, struct host_changes *t, struct why *why)
{
	const struct attribution *whose = &p->authz->whose;

	if (whose->by == NULL || whose->by->token_reuse || p->lease.reuse_hash[0] != '\0')
		return 0;
	return used_token_bind(whose, p->lease.uid, p->lease.key, t->used_token, why);
}

/*
 * Carries out the plan; then only the wrapper's confirmation is missing. On failure, undoes everything that can be
 * undone now. The steps, each of which takes the lock for itself where «lock» stands:
 *	pick_and_write_lease		lock: picks, and writes the lease. First of all, so that whoever comes later finds what to undo
 *	plan_check_folders	the folders are where they were, now that the lease keeps others from moving them
 *	ask_relabel_walk	their labels may be changed
 *	bind_token		the token is this container's
 *	plan_complete		the reply is whole
 *	record_grant		lock, for GPUs: the log has the grant, and the reply's hash. Nothing is open before that
 *	record_for_execs	what execs need is written; the grant can be taken back, and recorded as such, from here on
 *	give_access		lock: nodes are made, and access to them is given
 *	ask_relabel_change	last, because labels are never undone
 */
static int
carry_out(struct plan *p, bool scan_first, struct host_changes *t, struct refusal *f)
{
	const struct call *c = p->authz->call;
	autoask_relabel struct ask_relabel labels = ASK_RELABEL(&p->label, c->peer, &p->edits);

	if (pick_and_write_lease(p, scan_first, t->lease, f) == -1)
		return -1;
	snprintf(t->pipeline, sizeof(t->pipeline), "%s", p->lease.pipeline);
	if (plan_check_folders(p, &f->why) == -1 || ask_relabel_walk(&labels, &f->why) == -1 ||
	    bind_token(p, t, &f->why) == -1 || plan_complete(p, &f->why) == -1 || record_grant(p, f) == -1) {
		if (!drop_unrecorded(c, t))
			f->retry = RETRY_NOT;
		return -1;
	}
	if (record_for_execs(p, &f->why) == -1 || give_access(p, &f->why) == -1 ||
	    ask_relabel_change(&labels, &f->why) == -1) {
		grant_undo(c->peer, c->request, t);
		return -1;
	}
	if (c->peer->client.rootful && c->request->spec.systemd_cgroup)
		devchar_link(&p->edits);
	return 0;
}

/*
 * False: a picked GPU is open in a container that has no lease of it, so the grant must be tried again with
 * scan_first, which picks no such GPU.
 */
static bool
grant_once(const struct peer *peer, const struct request *r, bool scan_first, struct reply *reply,
    struct host_changes *t)
{
	autorefusal struct refusal f = { .retry = RETRY_NOT };
	autoclose int audit = audit_open(&f.why);
	const struct call call = { peer, r, audit };
	autoauthz struct authz authz = { .call = &call };
	autoplan struct plan plan = { .authz = &authz, .write_reply = write_reply };

	*reply = (struct reply){ 0 };
	*t = (struct host_changes){ 0 };
	if (audit == -1) {
		reply->kind = REPLY_REFUSED;
		reply->why = f.why;
	} else if (authz_make(&authz, &r->untrusted, NULL, &f.why) == 0 && plan_make(&plan, &f.why) == 0 &&
	    carry_out(&plan, scan_first, t, &f) == 0) {
		reply->kind = REPLY_GRANT;
		reply->encoded = plan.reply;
		plan.reply = NULL;
	} else if (authz.asks_nothing && authz.judged && f.why.code == WHY_DENIED)
		reply->kind = REPLY_PLAIN;
	else if (!f.met_opener || scan_first)
		refusal_answer(&authz, &f, reply);
	return !f.met_opener || scan_first;
}

void
grant(const struct peer *peer, const struct request *r, struct reply *reply, struct host_changes *t)
{
	if (!grant_once(peer, r, false, reply, t))
		(void)grant_once(peer, r, true, reply, t);
}

/* The record of a grant that is taken back. */
struct undoing {
	struct record record;
	bool recorded;	/* or that was tried */
};

static void
record_undo(void *ctx, bool releasing)
{
	struct undoing *u = ctx;
	struct why ignored;
	autoclose int fd = audit_open(&ignored);

	u->recorded = true;
	u->record.releasing = releasing;
	if (fd != -1)
		(void)audit_write(fd, &u->record, &ignored);
}

/*
 * The token stays bound to this container, because a part of the grant may still be in use. The same container may ask
 * again with that token.
 */
void
grant_undo(const struct peer *peer, const struct request *r, const struct host_changes *t)
{
	struct undoing u = { .record = { .event = "undo", CLIENT_OF(peer), .request = r, .of_lease = t->pipeline } };
	const struct undo_recorder tell = { record_undo, &u };
	struct why why;

	/* on failure the log says why, even if it already has a record of the undoing */
	if (t->lease[0] != '\0' && leases_drop(peer, r->runtime_root, r->id, "", &tell, &why) == -1) {
		u.record.why = &why;
		u.recorded = false;
	}
	if (!u.recorded)
		record_undo(&u, u.record.releasing);
}
