/*
 * See picking.h. Writes each decision into a lease or into the queue while it still has the lock under which it
 * decided. Must do nothing under the lock that anyone but root could delay.
 */
#include "picking.h"

#include <string.h>

#include "../end/leaseend.h"
#include "../lease/leasewrite.h"
#include "../lease/lookups.h"
#include "../lease/teamshares.h"
#include "../lease/usedtoken.h"
#include "../node/changes.h"
#include "askpicks.h"
#include "latescan.h"
#include "leasesfor.h"
#include "plangpus.h"
#include "gpuopeners.h"

/* The refusal's text for now, with what the request is told about its wait. */
static int
tell_wait(const struct plan *p, bool over, unsigned wait, struct why *why)
{
	const bool task = p->authz->call->request->verb == VERB_TASK;
	const struct why was = *why;

	if (over)
		return refuse(why, WHY_AGAIN, task ? "waited %u s for a GPU: %s" : "waited %u s: %s", wait, was.text);
	return task ? refuse(why, WHY_AGAIN, "waiting for a GPU: %s", was.text) :
	    refuse(why, WHY_AGAIN, "waiting up to %u s: %s", wait, was.text);
}

/*
 * Gives the request a position in the queue or keeps its position, so that its next try comes before later requests.
 * Always -1 with *f.
 */
static int
refuse_queued(const struct plan *p, struct picking *k, struct refusal *f)
{
	const unsigned wait = p->authz->decision.grant.wait;
	const struct lease *l = &p->lease;
	struct queued *me = &k->me;
	struct why why;

	/* a task that the runtime is still starting asks again when it is there */
	if (call_is_early(p->authz->call)) {
		f->retry = RETRY_SOON;
		return -1;
	}
	/* after its full wait, this was the request's last try */
	if (wait == 0 || queue_waited(&k->queue, me->key) >= wait) {
		if (wait > 0) {
			queue_leave(&k->queue, me->key);
			tell_wait(p, true, wait, &f->why);
		} else if (p->authz->call->request->verb == VERB_TASK)
			refuse_within(&f->why, "no GPU is free, and the policy allows no wait");
		return -1;
	}
	me->uid = l->uid;
	me->asker = call_process(p->authz->call);
	me->task = l->tasks.task;
	me->wait = wait;
	if ((me->id = strdup(l->id)) == NULL)
		return refuse_nomem(&f->why);
	if (queue_stay(&k->queue, me, p->authz->decision.policy->max_waiting, &why) == 0) {
		f->retry = RETRY_IN_WAIT;
		return tell_wait(p, false, wait, &f->why);
	}
	f->why = why;
	return -1;
}

/*
 * Too few GPUs are free: begins to take GPUs back from idle containers, and queues the request if its policy allows
 * a wait. Always -1 with *f.
 */
static int
refuse_or_queue(const struct plan *p, struct picking *k, struct idle *idle, struct refusal *f)
{
	struct why why;
	bool soon;

	if (f->why.code != WHY_AGAIN)
		return -1;
	/* GPUs of other policies would not help */
	idle->policy = p->answer.pick.in_quota ? NULL : k->me.policy;
	if (idle_begin(idle, &k->me, &soon, &why) == -1) {
		f->why = why;
		return -1;
	}
	if (p->authz->decision.grant.wait > 0 || (!soon && f->ops.n == 0))
		return refuse_queued(p, k, f);
	f->retry = RETRY_IN_WAIT;
	return -1;
}

int
pick_or_queue(struct plan *p, struct picking *k, const struct gpu_openers *openers, struct refusal *f)
{
	const struct decision *d = &p->authz->decision;
	struct idle idle = { .call = p->authz->call, .leases = &k->leases, .ops = &f->ops };
	const struct gpu_openers none = { 0 };
	int ret;

	f->ahead = queue_before(&k->queue, &k->me);
	p->lease.tasks.waited = queue_waited(&k->queue, k->me.key);
	if (grant_demands(d, &k->me.demand, &k->me.demands, &f->why) == -1 || idle_finish(&idle, &k->me, &f->why) == -1)
		return -1;
	/* a request for folders alone holds no GPU, and waits for none */
	if (d->grant.gpus == 0)
		return 0;
	if ((ret = ask_picks(p, &k->leases, &k->queue, &k->me, openers != NULL ? openers : &none, &p->answer,
	    &f->why)) != 0)
		return ret == 1 ? refuse_or_queue(p, k, &idle, f) : refuse_scan_failed(p, f);
	if (lease_take_picks(&k->leases, d, &k->me, p->answer.pick.v, p->answer.pick.n, &p->lease, p->picks, &f->why) == -1)
		return -1;
	p->picked = p->lease.gpus;
	return 0;
}

/* For a promise: picks all candidates, whoever holds them. */
static int
promise_all(struct plan *p, struct picking *k, struct refusal *f)
{
	const struct decision *d = &p->authz->decision;

	_Static_assert(PROMISED_GPUS_MAX <= GPUS_MAX, "a plan has room for all promised GPUs");
	p->picked = GPUS_MAX;
	return grant_demands(d, &k->me.demand, &k->me.demands, &f->why) == 0 &&
	    lease_promise_all(d, &k->me, &p->lease.tasks, p->picks, &p->picked) == 0 ? 0 : refuse_nomem(&f->why);
}

/* What the policy says of the request's position in the queue. */
static int
fill_queue_entry(struct queued *me, const struct authz *authz, const struct lease *l)
{
	const struct policy *policy = authz->decision.policy;

	me->max_gpus = policy->max_gpus;
	me->priority = policy->priority;
	/* half of what anyone may wait at most: then no priority makes a request starve */
	me->urgent_after = authz->settings.max_wait / 2;
	me->policy = strdup(policy->name);
	me->pipeline = strdup(l->pipeline);
	return me->policy != NULL && me->pipeline != NULL ? 0 : -1;
}

int
picking_read(struct picking *k, const struct plan *p, bool new_lease, struct why *why)
{
	if (fill_queue_entry(&k->me, p->authz, &p->lease) == -1)
		return refuse_nomem(why);
	/* a request for folders alone waits for nobody, and needs no queue */
	if (p->authz->decision.grant.gpus > 0 && queue_open(&k->queue, p->authz->call->audit, why) == -1)
		return -1;
	if (leases_for_request(p, &k->leases, &k->queue, &k->me, new_lease, why) == -1 ||
	    leases_reap(&k->leases, p->authz->call->audit, why) == -1)
		return -1;
	if (p->authz->decision.grant.gpus > 0)
		team_shares_rank(&k->queue, &k->me, &k->leases, &p->authz->settings);
	return 0;
}

void
picking_end(struct picking *k)
{
	queue_close(&k->queue);
	queued_free(&k->me);
	leases_close(&k->leases);
}

/* True if the lease has a GPU that no other may have. */
static bool
lease_has_exclusive(const struct lease *l)
{
	size_t i;

	for (i = 0; i < l->gpus && !l->gpu[i].exclusive; i++)
		;
	return i < l->gpus;
}

/* Picks GPUs, checks that the lease may be added, plans what follows, and writes the lease. */
static int
pick_and_plan(struct plan *p, struct picking *k, const struct gpu_openers *openers, struct refusal *f)
{
	struct leases *ls = &k->leases;
	struct lease *l = &p->lease;
	struct why ignored;

	/*
	 * the token is looked up before the request can get a position in the queue: a request must not wait for a GPU
	 * that its own job has
	 */
	if (picking_read(k, p, true, &f->why) == -1 || used_token_may_add(ls, l, &f->why) == -1 ||
	    (lease_only_promises(l) ? promise_all(p, k, f) : pick_or_queue(p, k, openers, f)) == -1 ||
	    leases_may_add(ls, l, &f->why) == -1 || lookups_may_add(ls, l, &f->why) == -1 ||
	    label_decide(&p->label, ls, l, &f->why) == -1 || changes_undo_earlier(ls, l, false, &f->why) == -1)
		return -1;
	if (plan_driver_files(p, &f->why) == -1)
		return refuse_scan_failed(p, f);
	if (plan_gpus(p, ls, &f->why) == -1)
		return -1;
	l->unscanned = l->unscanned && lease_has_exclusive(l);
	if (leases_write_grown(ls, l, &f->why) == 0)
		return 0;
	(void)leases_remove(ls, l, &ignored);
	return -1;
}

static int
lease_under_lock(struct plan *p, const struct gpu_openers *openers, struct refusal *f)
{
	autopicking struct picking k = PICKING;
	int ret;

	memcpy(k.me.key, p->lease.key, sizeof(k.me.key));
	queue_touch(k.me.key);
	if (leases_lock(&k.leases, p->lease.uid, &f->why) == -1) {
		/* the lock was not free in time. The request may ask again, even if its policy allows no wait */
		f->retry = f->why.code == WHY_AGAIN ? RETRY_IN_WAIT : RETRY_NOT;
		return -1;
	}
	ret = pick_and_plan(p, &k, openers, f);
	/* a request that was granted or refused keeps no position */
	if (k.queue.dir != -1 && f->retry == RETRY_NOT)
		queue_leave(&k.queue, k.me.key);
	return ret;
}

int
refuse_scan_failed(const struct plan *p, struct refusal *f)
{
	f->retry = p->authz->decision.grant.wait > 0 ? refusal_retry(&f->why) : RETRY_NOT;
	return -1;
}

int
check_exclusive(const struct plan *p, struct refusal *f)
{
	autogpuopeners struct gpu_openers openers = { 0 };
	autonodestoscan struct nodes_to_scan to_scan = { 0 };
	char text[OPENER_TEXT];

	if (nodes_to_scan_of_picks(&p->lease, p->picks, &p->extra_nodes, &to_scan, &f->why) == -1 ||
	    gpu_openers_of_nodes(&to_scan, &openers, &f->why) == -1)
		return refuse_scan_failed(p, f);
	if (openers.n == 0)
		return 0;
	f->met_opener = true;
	f->retry = p->authz->decision.grant.wait > 0 ? RETRY_IN_WAIT : RETRY_NOT;
	gpu_opener_tell(&openers.v[0], text);
	return refuse(&f->why, WHY_AGAIN, "GPU %s", text);
}

int
pick_and_write_lease(struct plan *p, bool scan_first, char key[LEASE_KEY_SIZE], struct refusal *f)
{
	const struct call *c = p->authz->call;
	autogpuopeners struct gpu_openers openers = { 0 };
	struct why ignored;

	if (scan_first && gpu_openers_of_decision(&p->authz->decision, &openers, &f->why) == -1)
		return refuse_scan_failed(p, f);
	p->lease.unscanned = !scan_first && late_scan_may(p);
	if (lease_under_lock(p, &openers, f) == -1)
		return -1;
	if (!lease_only_promises(&p->lease) &&
	    (p->lease.unscanned ? late_scan_keep(p, &f->why) : check_exclusive(p, f)) == -1) {
		(void)leases_drop(c->peer, c->request->runtime_root, c->request->id, "", NULL, &ignored);
		return -1;
	}
	memcpy(key, p->lease.key, LEASE_KEY_SIZE);
	return 0;
}
