/*
 * See back.h.  The way is that of a grant (request, policy, decision, lease, record,
 * acts), but for the identity, which the ended lease remembers, and the token, which
 * is not asked for again.
 */
#include "back.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../host/clock.h"
#include "../host/process.h"
#include "acts.h"
#include "audit.h"
#include "concern.h"
#include "decision.h"
#include "host.h"
#include "leasewrite.h"
#include "reader.h"
#include "take.h"

/* Is it ours to deal with: given back, or stopped on its way to be had again? */
static bool
may_come_back(const struct lease *l)
{
	const bool lives = process_id_lives(l->pausing.giver);

	return lease_is_given_back(l) ||
	    (l->state == LEASE_COMING_BACK && turn_is_stale(&l->pausing, lives, clock_ms()));
}

static struct lease *
find(const struct work *w, const struct leases *ls)
{
	return leases_find(ls, w->peer->asker.uid, w->request->runtime_root, w->request->id);
}

/* The lock, and this container's lease, if it has one. */
static int
open_own(struct work *w, struct leases *ls)
{
	char key[65];

	lease_key(w->peer->asker.uid, w->request->runtime_root, w->request->id, key);
	return leases_open(ls, w->peer->asker.uid, &w->why) == -1 ? -1 :
	    leases_read(ls, &(struct concern){ .key = key }, &w->why);
}

/* The lease as it is now.  1: somebody else deals with it. */
static int
read_lease(struct work *w)
{
	struct leases ls;
	struct lease *l;
	int ret;

	if ((ret = open_own(w, &ls)) == 0) {
		l = find(w, &ls);
		ret = l == NULL || !may_come_back(l) ? 1 : lease_copy(l, &w->lease, &w->why);
	}
	leases_close(&ls);
	return ret;
}

static int
judge(struct work *w)
{
	autobuf struct buf gpus = { 0 };

	if (w->lease.pausing.who == NULL || !identity_unpack(w->lease.pausing.who, &w->known))
		return refuse(&w->why, WHY_DENIED, "what pipeline it is was too long to be remembered");
	if (!lease_words(&w->lease, &gpus))
		return refuse_nomem(&w->why);
	if (reader_reads(&w->settings, &w->policies, &w->why) == -1)
		return -1;
	host_look(policies_vendors(&w->policies, &w->peer->asker));
	return decision_reach(w, &(struct request){ .gpus = gpus.p });
}

/* Of what the policy would give, what the container had: its devices can't be others any more. */
static void
narrow(struct work *w)
{
	struct gpu_want *want;
	size_t i, k, n;

	for (i = 0; i < w->decision.grant.gpus; i++) {
		want = &w->decision.grant.gpu[i];
		for (k = 0, n = 0; k < want->n; k++)
			if (lease_has_gpu(&w->lease, &w->decision.inventory, want->candidate[k]))
				want->candidate[n++] = want->candidate[k];
		want->n = n;
	}
}

/* As the container's first process is seen, whose maps nobody can say otherwise of. */
static int
find_subject(struct work *w, struct request *of)
{
	of->uid = w->lease.pausing.uid;
	of->gid = w->lease.pausing.gid;
	if (maps_of_process(w->lease.init.pid, &w->uids, &w->gids, &w->why) == -1)
		return -1;
	subject_of(of, &w->uids, &w->gids, &w->subject);
	return label_of_lease(&w->lease, &w->label, &w->why);
}

static void
give_up_gpus(struct lease *l)
{
	free(l->gpu);
	free(l->node);
	l->gpu = NULL;
	l->node = NULL;
	l->gpus = l->nodes = 0;
}

/* Why not, for who starts something there all the same: who has them, as far as he may know that. */
static void
name_holder(struct work *w, const struct leases *ls, const struct lease *old)
{
	const struct lease *l;
	size_t i, k, g;

	for (i = 0; i < ls->n; i++) {
		l = ls->v[i];
		if (lease_is_given_back(l) || !allot_may_name(l, old->uid, &w->known.id))
			continue;
		for (k = 0; k < l->gpus; k++)
			for (g = 0; g < old->gpus; g++)
				if (held_overlaps(&l->gpu[k], &old->gpu[g])) {
					refuse(&w->why, WHY_AGAIN, "%s%scontainer %.80s has %s", l->pipeline,
					    l->pipeline[0] != '\0' ? ", " : "", l->id, old->gpus == 1 ? "it" : "them");
					return;
				}
	}
}

/* Under the lock: picks, plans, and marks the lease as coming back. */
static int
take_again(struct work *w, const struct lease *old, const struct idle *idle, struct queue *q, struct waiter *me)
{
	struct lease *l = &w->lease;

	give_up_gpus(l);
	if (pick_gpus_again(w, idle, q, me) == -1) {
		if (w->why.code == WHY_AGAIN && l->pausing.used)
			name_holder(w, idle->leases, old);
		return -1;
	}
	if (take_further(w) == -1)
		return -1;
	if (l->gpus != old->gpus || !lease_same_nodes(old, l))
		return refuse(&w->why, WHY_ABSENT, "its devices have other numbers by now");
	l->state = LEASE_COMING_BACK;
	l->since = time(NULL);
	l->pausing.giver = (struct process_id){ w->peer->pid, w->peer->start };
	l->pausing.giving_since = clock_ms();
	free(l->policy);
	if ((l->policy = strdup(w->decision.policy->name)) == NULL)
		return refuse_nomem(&w->why);
	if (plan_nodes(w, idle->leases) == -1)
		return -1;
	queue_leave(q, me->key);
	return 0;
}

/* 1: meanwhile somebody else deals with it. */
static int
lock_and_take(struct work *w)
{
	struct leases ls;
	const struct idle idle = { .peer = w->peer, .request = w->request, .leases = &ls, .chores = &w->chores,
		.audit = w->audit };
	struct queue q = { .dir = -1 };
	struct waiter me = { 0 };
	struct lease *old;
	int ret;

	memcpy(me.key, w->lease.key, sizeof(me.key));
	queue_renew(me.key);
	if ((ret = leases_open(&ls, w->peer->asker.uid, &w->why)) == 0 && (ret = queue_open(&q, &w->why)) == 0 &&
	    (ret = concern_look(w, &ls, &q, false)) == 0) {
		old = find(w, &ls);
		ret = old == NULL || !may_come_back(old) ? 1 : take_again(w, old, &idle, &q, &me);
	}
	queue_close(&q);
	waiter_free(&me);
	leases_close(&ls);
	return ret;
}

/* Under the lock again: is it still we who deal with it? */
static struct lease *
still_ours(const struct work *w, const struct leases *ls)
{
	const struct process_id self = { w->peer->pid, w->peer->start };
	struct lease *l = find(w, ls);

	return l != NULL && l->state == LEASE_COMING_BACK && process_id_same(&l->pausing.giver, &self) ? l : NULL;
}

/* Not under the lock, under which the line is written: see audit.h. */
static int
count_record(struct work *w, struct audit_line *line)
{
	const struct record rec = { .event = "grant", ASKED_BY(w->peer), .request = w->request, .known = &w->known,
		.policy = w->decision.policy->name, .gpus = &w->gpu_names, .edits = &w->edits, .again = true };

	if (name_gpus(w) == -1)
		return -1;
	return audit_count(w->audit, &rec, RATE_GRANT, line, &w->why);
}

/*
 * What the lease says is told of and done, and it is held by who starts something there.  Told under the lock: who saw
 * it over before has told of its end, and nothing of it comes after that in the log.
 */
static int
hold(struct work *w, struct leases *ls, struct audit_line *line)
{
	struct lease *l = &w->lease;

	if (still_ours(w, ls) == NULL)
		return refuse(&w->why, WHY_AGAIN, "this took too long");
	if (audit_append(w->audit, line, &w->why) == -1 || open_planned(w, ls) == -1)
		return -1;
	l->state = LEASE_HELD;
	l->planned = false;
	l->pausing.used = true;
	l->pausing.left_since = 0;
	l->pausing.execs = 0;
	if (!pausing_add_exec(&l->pausing, l->pausing.giver))
		return refuse_nomem(&w->why);
	return leases_write(ls, l, &w->why);
}

/* As it was before: given back, as far as what was done can be undone now. */
static void
undo(struct work *w, struct leases *ls)
{
	struct lease *l = still_ours(w, ls);
	struct why ignored;

	if (l == NULL || acts_undo(ls, l, &ignored) == -1)
		return;
	l->state = LEASE_GIVEN_BACK;
	(void)leases_write(ls, l, &ignored);
	(void)audit_lease(w->audit, "gave-back", l);
}

static int
finish(struct work *w, bool alone, struct audit_line *line)
{
	struct leases ls;
	int ret = -1;

	if (open_own(w, &ls) == 0 && (!alone || (ret = hold(w, &ls, line)) == -1))
		undo(w, &ls);
	leases_close(&ls);
	return ret;
}

/* 1: as lock_and_take() says. */
static int
have_again(struct work *w)
{
	struct request process = { 0 };
	struct audit_line line = { .suppressed = 0 };
	int ret;

	if (judge(w) == -1 || find_subject(w, &process) == -1)
		return -1;
	/* only a task that has not begun is worth waiting for */
	if (w->lease.pausing.used)
		w->decision.grant.wait = 0;
	narrow(w);
	if ((ret = lock_and_take(w)) != 0)
		return ret;
	ret = finish(w, check_alone(w) == 0 && count_record(w, &line) == 0, &line);
	audit_line_end(w->audit, &line);
	return ret;
}

static void
answer(struct work *w, int ret, struct reply *reply, struct why *without)
{
	char line[LEASE_LINE_MAX];

	*reply = (struct reply){ .kind = REPLY_NOTED };
	lease_describe(&w->lease, line);
	if (ret == 0) {
		snprintf(reply->line, sizeof(reply->line), "%s", line);
		if (idle_add_chore(&reply->chores, CHORE_OPEN, &w->lease, w->lease.pausing.giver))
			return;
		ret = refuse_nomem(&w->why);
	}
	reply->why = w->why;
	if (w->waits) {
		reply->kind = REPLY_BUSY;
		reply->wait = w->soon ? 0 : w->decision.grant.wait;
		reply->ahead = (unsigned)w->ahead;
		reply->chores = w->chores;
		w->chores = (struct chores){ 0 };
		return;
	}
	*without = w->why;
	if (!w->lease.pausing.used) {
		reply->kind = REPLY_REFUSED;
		refuse_within(&reply->why, "its GPU was given to others, since nothing was started in this container for too long");
	} else
		snprintf(reply->line, sizeof(reply->line), "no GPU: this container gave it back when its task was over, and does "
		    "not get it again now (%.300s)", w->why.text);
}

void
come_back(const struct peer *p, const struct request *r, int audit, struct reply *reply, struct why *without)
{
	struct work w = { .peer = p, .request = r, .audit = audit };
	int ret;

	if ((ret = read_lease(&w)) == -1) {
		*reply = (struct reply){ .kind = w.why.code == WHY_AGAIN ? REPLY_BUSY : REPLY_REFUSED, .why = w.why };
	} else if (ret == 1 || (ret = have_again(&w)) == 1) {
		*reply = (struct reply){ .kind = REPLY_BUSY };
		refuse(&reply->why, WHY_AGAIN, "the lease of container %s is changing", r->id);
	} else
		answer(&w, ret, reply, without);
	/* the caller's */
	w.audit = -1;
	work_free(&w);
}
