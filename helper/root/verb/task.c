/*
 * VERB_TASK: takes the GPUs that a container was promised, for a process that waits in it (the wrapper's waiter, which
 * becomes the task). Takes the steps of a grant (call, authz, plan, record, changes), but takes the pipeline from the
 * lease instead of a token. The container can open nothing before the peer has done the operation that comes with the
 * answer, and by then the lease has the waiter's process. The request may come before the runtime has started the
 * waiter: then all but the record and the changes is done meanwhile, and a second request names the process.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../../ask/wire.h"
#include "../../base/cleanup.h"
#include "../../base/times.h"
#include "../../host/clock.h"
#include "../../host/file.h"
#include "../../host/own/frame.h"
#include "../../host/process/process.h"
#include "../child/looker.h"
#include "../end/devicelock.h"
#include "../end/idle.h"
#include "../enter/owncgroup.h"
#include "../grant/giveaccess.h"
#include "../grant/picking.h"
#include "../grant/plangpus.h"
#include "../grant/gpuopeners.h"
#include "../lease/leasewrite.h"
#include "../log/audit.h"
#include "../node/changes.h"
#include "../self/slots.h"
#include "../self/timer.h"
#include "execlog.h"
#include "verb.h"

/* The container's lease. */

static enum task_next
next_of(const struct lease *l)
{
	return task_next_of(l->state, &l->tasks, process_id_lives(l->tasks.changer), clock_ms());
}

/* NULL with *why: the container was promised nothing. */
static struct lease *
find_promise(const struct call *c, const struct leases *ls, struct why *why)
{
	struct lease *l = leases_find(ls, c->peer->client.uid, c->request->runtime_root, c->request->id);

	if (l != NULL && l->gpus_by_task && l->container.init.pid != 0)
		return l;
	refuse(why, WHY_DENIED, "container %s was promised no GPU", c->request->id);
	return NULL;
}

/* Takes the lock, and reads this container's lease. */
static struct lease *
open_with_lease(const struct call *c, struct leases *ls, struct why *why)
{
	char key[LEASE_KEY_SIZE];

	lease_key(c->peer->client.uid, c->request->runtime_root, c->request->id, key);
	if (leases_lock(ls, c->peer->client.uid, why) == -1 || leases_read(ls, &(struct lease_query){ .key = key }, why) == -1)
		return NULL;
	return find_promise(c, ls, why);
}

static int
copy_this_lease(const struct call *c, struct lease *out, struct why *why)
{
	autoleases struct leases ls = LEASES_CLOSED;
	const struct lease *l = open_with_lease(c, &ls, why);

	return l == NULL ? -1 : lease_copy(l, out, why);
}

/* Finds the waiter, without the lock: it could make a scan of itself wait. */
static int
find_waiter(struct process_id waiter, struct lease *l, struct refusal *f)
{
	const int ret = looker_ask_waiter(l, waiter, &l->tasks.task, &f->why);

	f->retry = ret == 0 ? RETRY_NOT : refusal_retry(&f->why);
	return ret;
}

/* The second request, of which only the waiter counts. */
static int
await_waiter(struct lease *l, struct refusal *f)
{
	autorequest struct request r = { 0 };
	autofree char *text = NULL;
	size_t len;

	interrupt_after(2 * WAITER_MS);
	text = frame_read(STDIN_FILENO, WIRE_REQUEST_MAX, WAITER_MS, &len, &f->why);
	interrupt_after(0);
	if (text != NULL && request_decode(text, len, &r, &f->why) == 0 && r.verb == VERB_TASK)
		return find_waiter(r.waiter, l, f);
	refuse(&f->why, WHY_AGAIN, "no process of container %s came for its GPUs in time: try again", l->id);
	f->retry = RETRY_SOON;
	return -1;
}

/* The authorization. */

static int
authz_again(struct authz *authz, const struct lease *l, struct why *why)
{
	const struct untrusted words = { .gpus = l->tasks.asked };

	return l->tasks.who != NULL ? authz_make(authz, &words, l->tasks.who, why) :
	    refuse(why, WHY_DENIED, "the container's lease does not name its pipeline");
}

/* Keeps only the promised candidates: the container has no other nodes. */
static void
narrow(struct decision *d, const struct lease *l)
{
	struct gpu_grant *grant;
	size_t i, k, n;

	for (i = 0; i < d->grant.gpus; i++) {
		grant = &d->grant.gpu[i];
		for (k = 0, n = 0; k < grant->n; k++)
			if (lease_promises(l, &d->inventory, grant->candidate[k]))
				grant->candidate[n++] = grant->candidate[k];
		grant->n = n;
	}
}

/* The plan. */

/* Finds the container's user by the id maps of its first process, which come from the kernel. */
static int
find_subject(struct plan *p, struct why *why)
{
	const struct lease_tasks *had = &p->lease.tasks;

	if (maps_of_process(p->lease.container.init.pid, &p->uids, &p->gids, why) == -1)
		return -1;
	subject_of(&(struct request){ .spec.uid = had->uid, .spec.gid = had->gid }, &p->uids, &p->gids, &p->subject);
	return label_of_lease(&p->lease, &p->label, why);
}

/* Sets the lease to LEASE_ACQUIRING, and writes it with the changes that it needs. */
static int
write_acquiring(struct plan *p, struct leases *ls, struct why *why)
{
	const struct authz *authz = p->authz;
	struct lease *l = &p->lease;

	l->state = LEASE_ACQUIRING;
	l->since = time(NULL);
	l->tasks.changer = call_process(authz->call);
	l->tasks.changing_since = clock_ms();
	l->tasks.left_since = 0;
	free(l->policy);
	if ((l->policy = strdup(authz->decision.policy->name)) == NULL)
		return refuse_nomem(why);
	return device_lock_make(l, why) == -1 || plan_nodes(p, ls, why) == -1 ? -1 : leases_write_grown(ls, l, why);
}

/* Under the lock: picks the GPUs. */
static int
pick(struct plan *p, struct picking *k, const struct gpu_openers *openers, struct refusal *f)
{
	lease_forget_gpus(&p->lease);
	if (pick_or_queue(p, k, openers, f) == -1 || plan_extra_nodes(p, &f->why) == -1)
		return -1;
	if (!lease_has_promised_nodes(&p->lease))
		return refuse(&f->why, WHY_ABSENT, "the numbers of its device nodes have changed: create the container again");
	return changes_undo_earlier(&k->leases, &p->lease, true, &f->why) == -1 ? -1 : write_acquiring(p, &k->leases, &f->why);
}

/* The lease as it is now, with the task that was found before. */
static int
renew(struct lease *l, const struct lease *now, struct why *why)
{
	const struct process_id task = l->tasks.task;
	int ret;

	lease_free(l);
	ret = lease_copy(now, l, why);
	l->tasks.task = task;
	return ret;
}

/* A request that was granted or refused keeps no position. */
static int
pick_under_lock(struct plan *p, const struct gpu_openers *openers, enum task_next *next, struct refusal *f)
{
	autopicking struct picking k = PICKING;
	struct lease *now;
	int ret;

	memcpy(k.me.key, p->lease.key, sizeof(k.me.key));
	queue_touch(k.me.key);
	if (leases_lock(&k.leases, p->lease.uid, &f->why) == -1) {
		f->retry = refusal_retry(&f->why);
		return -1;
	}
	if (picking_read(&k, p, false, &f->why) == -1 || (now = find_promise(p->authz->call, &k.leases, &f->why)) == NULL)
		return -1;
	if ((*next = next_of(now)) != TASK_ACQUIRES)
		return 0;
	/* a helper that was killed left it so: else its own GPU would count as taken */
	if (now->state == LEASE_ACQUIRING && idle_return_gpus(&k.leases, now, -1, &f->why) == -1)
		return -1;
	if (renew(&p->lease, now, &f->why) == -1)
		return -1;
	ret = pick(p, &k, openers, f);
	if (k.queue.dir != -1 && f->retry == RETRY_NOT)
		queue_leave(&k.queue, k.me.key);
	return ret;
}

/* Record and changes. */

/*
 * To be called under the lock. Returns the lease if it is as write_acquiring() left it, else NULL. The process that
 * asked may have had another helper begin anew.
 */
static struct lease *
still_ours(const struct plan *p, struct lease *l)
{
	const struct process_id asker = call_process(p->authz->call);

	return l != NULL && l->state == LEASE_ACQUIRING && process_id_same(&l->tasks.changer, &asker) &&
	    l->tasks.changing_since == p->lease.tasks.changing_since ? l : NULL;
}

/* To be called without the lock; hold() writes the line under it (audit.h). */
static int
prepare_record(struct plan *p, struct audit_line *line, struct why *why)
{
	const struct authz *authz = p->authz;
	const struct call *c = authz->call;
	const struct record rec = { .event = "grant", CLIENT_OF(c->peer), .request = c->request, .whose = &authz->whose,
		.policy = authz->decision.policy->name, .gpus = &p->edits.gpus, .edits = &p->edits,
		.waited = p->lease.tasks.waited, .changes = &p->changes, .reply = p->reply_hash };

	if (plan_name_gpus(p, why) == -1 || p->write_reply(p, why) == -1)
		return -1;
	return audit_prepare(c->audit, &rec, RATE_GRANT, line, why);
}

/*
 * Records the grant, and does the lease's changes. The record is written under the lock: another process may end the
 * lease, and no record of the lease may follow that of its end.
 */
static int
hold(struct plan *p, struct leases *ls, struct audit_line *line, bool *recorded, struct why *why)
{
	struct lease *l = &p->lease;

	if (audit_append(p->authz->call->audit, line, why) == -1)
		return -1;
	*recorded = true;
	if (give_planned_access(p, ls, why) == -1)
		return -1;
	l->state = LEASE_HELD;
	l->planned = false;
	return leases_write(ls, l, why);
}

/* Holds what was taken. If that fails, or without may_hold, the lease is only a promise again. */
static int
hold_or_undo(struct plan *p, bool may_hold, struct audit_line *line, struct why *why)
{
	const struct call *c = p->authz->call;
	autoleases struct leases ls = LEASES_CLOSED;
	bool recorded = false;
	struct lease *l;
	struct why ignored;

	/* why holding failed, if it did, is in *why already */
	if ((l = still_ours(p, open_with_lease(c, &ls, may_hold ? why : &ignored))) == NULL)
		return may_hold ? refuse(why, WHY_AGAIN, "taking the GPU took too long: try again") : -1;
	if (may_hold && hold(p, &ls, line, &recorded, why) == 0)
		return 0;
	(void)idle_return_gpus(&ls, l, recorded ? c->audit : -1, &ignored);
	return -1;
}

/* *next: what the task must do. Only for TASK_ACQUIRES does the return value count: 0, or -1 with *f. */
static int
acquire_once(struct plan *p, bool scan_first, enum task_next *next, struct refusal *f)
{
	const struct authz *authz = p->authz;
	autogpuopeners struct gpu_openers openers = { 0 };
	struct audit_line line = { .suppressed = 0 };
	bool alone;
	int ret;

	if (scan_first && gpu_openers_of_decision(&authz->decision, &openers, &f->why) == -1)
		return refuse_scan_failed(p, f);
	if (pick_under_lock(p, &openers, next, f) == -1)
		return -1;
	if (*next != TASK_ACQUIRES)
		return 0;
	alone = check_exclusive(p, f) == 0 && (!call_is_early(authz->call) || await_waiter(&p->lease, f) == 0);
	ret = hold_or_undo(p, alone && prepare_record(p, &line, &f->why) == 0, &line, &f->why);
	if (ret == -1 && alone)
		f->retry = refusal_retry(&f->why);
	audit_line_end(authz->call->audit, &line);
	return ret;
}

/* Answers. */

static int
write_reply(struct plan *p, struct why *why)
{
	autoreply struct reply reply = { .kind = REPLY_DONE };

	snprintf(reply.text, sizeof(reply.text), "%s", p->answer.line);
	return strlist_append(&reply.env, &p->answer.env) &&
	    caller_ops_add_for(&reply.ops, OP_ALLOW, &p->lease, (struct process_id){ 0 }) ?
	    plan_encode_reply(p, &reply, why) : refuse_nomem(why);
}

static void
send_as_written(struct plan *p, struct reply *reply)
{
	reply->kind = REPLY_DONE;
	reply->encoded = p->reply;
	p->reply = NULL;
}

/* Another process of the container has taken the GPUs: this one uses them, too, and keeps them as long as it lives. */
static void
answer_joined(const struct call *c, struct reply *reply)
{
	struct lease l = { .id = NULL };
	char line[LEASE_LINE_MAX];

	reply->kind = REPLY_REFUSED;
	if (copy_this_lease(c, &l, &reply->why) == 0 && l.state == LEASE_HELD) {
		lease_describe(&l, line);
		snprintf(reply->text, sizeof(reply->text), "%s, which this container has already", line);
		reply->kind = REPLY_DONE;
		exec_log(c->audit, c->peer, &l, reply);
		if (!caller_ops_add_for(&reply->ops, OP_ALLOW, &l, (struct process_id){ 0 }))
			*reply = (struct reply){ .kind = REPLY_REFUSED, .why = { WHY_BUG, "no memory" } };
	} else if (l.id != NULL || reply->why.code == WHY_AGAIN) {
		reply->kind = REPLY_BUSY;
		refuse(&reply->why, WHY_AGAIN, "the lease of container %s is changing", c->request->id);
	}
	lease_free(&l);
}

static void
answer_next(const struct call *c, enum task_next next, struct reply *reply)
{
	switch (next) {
	case TASK_JOINS:
		answer_joined(c, reply);
		break;
	case TASK_WAITS:
		reply->kind = REPLY_BUSY;
		refuse(&reply->why, WHY_AGAIN, "the GPU of container %s is changing hands", c->request->id);
		break;
	case TASK_ACQUIRES:
	case TASK_FAILS:
		reply->kind = REPLY_REFUSED;
		refuse(&reply->why, WHY_DENIED, "container %s is ending: it gets no GPU", c->request->id);
		break;
	}
}

/* As grant_once() in grant.c. */
static bool
task_once(const struct call *c, bool scan_first, struct reply *reply)
{
	autorefusal struct refusal f = { .retry = RETRY_NOT };
	autoauthz struct authz authz = { .call = c };
	autoplan struct plan p = { .authz = &authz, .write_reply = write_reply };
	enum task_next next = TASK_ACQUIRES;
	int ret = -1;

	if (copy_this_lease(c, &p.lease, &f.why) == -1)
		f.retry = refusal_retry(&f.why);
	/* as after a grant, only few of a user's helpers may wait for a runtime */
	else if (call_is_early(c) && !slot_may_stay(c->peer->client.uid))
		next = TASK_WAITS;
	else if ((next = next_of(&p.lease)) == TASK_ACQUIRES &&
	    (call_is_early(c) || find_waiter(c->request->waiter, &p.lease, &f) == 0) &&
	    authz_again(&authz, &p.lease, &f.why) == 0 && find_subject(&p, &f.why) == 0) {
		narrow(&authz.decision, &p.lease);
		ret = acquire_once(&p, scan_first, &next, &f);
	}
	if (f.met_opener && !scan_first)
		return false;
	/* what a container has now says nothing of the time when the waiter is there */
	if (next == TASK_JOINS && call_is_early(c))
		next = TASK_WAITS;
	if (next != TASK_ACQUIRES)
		answer_next(c, next, reply);
	else if (ret == 0)
		send_as_written(&p, reply);
	else
		refusal_answer(&authz, &f, reply);
	return true;
}

void
verb_task(const struct peer *peer, const struct request *r, struct reply *reply)
{
	autoclose int audit = audit_open(&reply->why);
	const struct call c = { peer, r, audit };

	reply->kind = REPLY_REFUSED;
	if (audit == -1 || leave_cgroup(peer->starter, &reply->why) == -1)
		return;
	looker_exec(true);
	if (!task_once(&c, false, reply))
		(void)task_once(&c, true, reply);
}
