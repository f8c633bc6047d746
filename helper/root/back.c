/*
 * See back.h. Takes the steps of a grant (call, ruling, plan, record, acts), but takes the pipeline from the lease
 * instead of a token.
 */
#include "back.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../host/clock.h"
#include "../host/process.h"
#include "../pure/cleanup.h"
#include "acts.h"
#include "audit.h"
#include "host.h"
#include "leasewrite.h"
#include "opening.h"
#include "plangpus.h"
#include "reader.h"
#include "take.h"

/* The container's lease. */

/* True if the GPUs were given back, or if the process that was taking them again has stopped half-way. */
static bool
may_come_back(const struct lease *l)
{
	const bool lives = process_id_lives(l->pausing.giver);

	return lease_is_given_back(l) ||
	    (l->state == LEASE_COMING_BACK && turn_is_stale(&l->pausing, lives, clock_ms()));
}

static struct lease *
find_this_lease(const struct call *c, const struct leases *ls)
{
	return leases_find(ls, c->peer->asker.uid, c->request->runtime_root, c->request->id);
}

/* Takes the lock, and reads this container's lease, if it has one. */
static int
open_with_lease(const struct call *c, struct leases *ls, struct why *why)
{
	char key[65];

	lease_key(c->peer->asker.uid, c->request->runtime_root, c->request->id, key);
	return leases_open(ls, c->peer->asker.uid, why) == -1 ? -1 : leases_read(ls, &(struct concern){ .key = key }, why);
}

/* A copy of the lease as it is now. 1: there is no lease, or it can't come back now. */
static int
read_this_lease(const struct call *c, struct lease *out, struct why *why)
{
	autoleases struct leases ls = LEASES_CLOSED;
	const struct lease *l;

	if (open_with_lease(c, &ls, why) == -1)
		return -1;
	l = find_this_lease(c, &ls);
	return l == NULL || !may_come_back(l) ? 1 : lease_copy(l, out, why);
}

/* The ruling. */

static int
rule_again(struct ruling *r, const struct lease *l, struct why *why)
{
	autobuf struct buf gpus = { 0 };

	if (l->pausing.who == NULL || !identity_unpack(l->pausing.who, &r->known))
		return refuse(why, WHY_DENIED, "the container's lease does not name its pipeline: the names were too long");
	if (!lease_words(l, &gpus))
		return refuse_nomem(why);
	if (reader_reads(&r->settings, &r->policies, why) == -1)
		return -1;
	reader_keep();
	host_look(policies_vendors(&r->policies, &r->call->peer->asker));
	return ruling_decide(r, &(struct request){ .gpus = gpus.p }, why);
}

/* Keeps only the candidates that the container had before: its device nodes can't be changed any more. */
static void
narrow(struct decision *d, const struct lease *had)
{
	struct gpu_want *want;
	size_t i, k, n;

	for (i = 0; i < d->grant.gpus; i++) {
		want = &d->grant.gpu[i];
		for (k = 0, n = 0; k < want->n; k++)
			if (lease_has_gpu(had, &d->inventory, want->candidate[k]))
				want->candidate[n++] = want->candidate[k];
		want->n = n;
	}
}

/* The plan. */

/* Finds the container's user by the id maps of its first process, which come from the kernel. */
static int
find_subject(struct plan *p, struct why *why)
{
	const struct pausing *had = &p->lease.pausing;

	if (maps_of_process(p->lease.init.pid, &p->uids, &p->gids, why) == -1)
		return -1;
	subject_of(&(struct request){ .uid = had->uid, .gid = had->gid }, &p->uids, &p->gids, &p->subject);
	return label_of_lease(&p->lease, &p->label, why);
}

static void
forget_gpus(struct lease *l)
{
	free(l->gpu);
	free(l->node);
	l->gpu = NULL;
	l->node = NULL;
	l->gpus = l->nodes = 0;
}

/* Names the container that has the GPUs now, if the user may know that. */
static void
name_holder(const struct leases *ls, const struct lease *old, const struct identity *id, struct why *why)
{
	const struct lease *l;
	size_t i, k, g;

	for (i = 0; i < ls->n; i++) {
		l = ls->v[i];
		if (lease_is_given_back(l) || !allot_may_name(l, old->uid, id))
			continue;
		for (k = 0; k < l->gpus; k++)
			for (g = 0; g < old->gpus; g++)
				if (held_overlaps(&l->gpu[k], &old->gpu[g])) {
					refuse(why, WHY_AGAIN, "%s%scontainer %.80s has %s", l->pipeline,
					    l->pipeline[0] != '\0' ? ", " : "", l->id, old->gpus == 1 ? "it" : "them");
					return;
				}
	}
}

/* Under the lock: picks the GPUs again, plans, and marks the lease as coming back. */
static int
take_again(struct plan *p, struct picking *k, const struct lease *old, struct refusal *f)
{
	const struct ruling *r = p->ruling;
	struct lease *l = &p->lease;

	forget_gpus(l);
	if (pick_or_queue(p, k, NULL, f) == -1) {
		if (f->why.code == WHY_AGAIN && l->pausing.used)
			name_holder(&k->leases, old, &r->known.id, &f->why);
		return -1;
	}
	if (plan_further_nodes(p, &f->why) == -1)
		return -1;
	if (l->gpus != old->gpus || !lease_same_nodes(old, l))
		return refuse(&f->why, WHY_ABSENT, "the numbers of its device nodes have changed: create the container again");
	l->state = LEASE_COMING_BACK;
	l->since = time(NULL);
	l->pausing.giver = call_process(r->call);
	l->pausing.giving_since = clock_ms();
	free(l->policy);
	if ((l->policy = strdup(r->decision.policy->name)) == NULL)
		return refuse_nomem(&f->why);
	if (plan_nodes(p, &k->leases, &f->why) == -1)
		return -1;
	queue_leave(&k->queue, k->me.key);
	return 0;
}

/* 1: meanwhile the lease ended, or another process began to change it. */
static int
lock_and_take(struct plan *p, struct refusal *f)
{
	autopicking struct picking k = PICKING;
	const struct lease *old;

	memcpy(k.me.key, p->lease.key, sizeof(k.me.key));
	queue_renew(k.me.key);
	if (leases_open(&k.leases, p->lease.uid, &f->why) == -1 || picking_read(&k, p, false, &f->why) == -1)
		return -1;
	old = find_this_lease(p->ruling->call, &k.leases);
	return old == NULL || !may_come_back(old) ? 1 : take_again(p, &k, old, f);
}

/* Record and acts. */

/*
 * To be called under the lock. Returns the lease if the process that asked is still the one that changes it, else NULL.
 */
static struct lease *
still_ours(const struct call *c, const struct leases *ls)
{
	const struct process_id self = call_process(c);
	struct lease *l = find_this_lease(c, ls);

	return l != NULL && l->state == LEASE_COMING_BACK && process_id_same(&l->pausing.giver, &self) ? l : NULL;
}

/* To be called without the lock; hold() writes the line under it (audit.h). */
static int
count_record(struct plan *p, struct audit_line *line, struct why *why)
{
	const struct ruling *r = p->ruling;
	const struct call *c = r->call;
	const struct record rec = { .event = "grant", ASKED_BY(c->peer), .request = c->request, .known = &r->known,
		.policy = r->decision.policy->name, .gpus = &p->edits.gpus, .edits = &p->edits, .again = true };

	return plan_name_gpus(p, why) == -1 ? -1 : audit_count(c->audit, &rec, RATE_GRANT, line, why);
}

/*
 * Records the grant, does the lease's acts, and adds the peer to the lease as a runtime. The record is written under
 * the lock: another process may end the lease, and no record of the lease may follow that of its end.
 */
static int
hold(struct plan *p, struct leases *ls, struct audit_line *line, bool *recorded, struct why *why)
{
	const struct call *c = p->ruling->call;
	struct lease *l = &p->lease;

	if (still_ours(c, ls) == NULL)
		return refuse(why, WHY_AGAIN, "taking the GPU again took too long: try again");
	if (audit_append(c->audit, line, why) == -1)
		return -1;
	*recorded = true;
	if (open_planned(p, ls, why) == -1)
		return -1;
	l->state = LEASE_HELD;
	l->planned = false;
	l->pausing.used = true;
	l->pausing.left_since = 0;
	l->pausing.execs = 0;
	if (!pausing_add_exec(&l->pausing, l->pausing.giver))
		return refuse_nomem(why);
	return leases_write(ls, l, why);
}

/*
 * Undoes the acts, and marks the lease as given back again. If the acts can't be undone now, a later request does both.
 * Records the end of a recorded grant only, because that grant was counted (rate.h). Otherwise a user could make the
 * log grow without limit.
 */
static void
undo_hold(const struct call *c, struct leases *ls, bool recorded)
{
	struct lease *l = still_ours(c, ls);
	struct why ignored;

	if (l == NULL || acts_undo(ls, l, &ignored) == -1)
		return;
	l->state = LEASE_GIVEN_BACK;
	(void)leases_write(ls, l, &ignored);
	if (recorded)
		(void)audit_lease(c->audit, "gave-back", l);
}

/* Holds the lease that was taken again. If that fails, or without may_hold, gives it back. */
static int
hold_or_undo(struct plan *p, bool may_hold, struct audit_line *line, struct why *why)
{
	const struct call *c = p->ruling->call;
	autoleases struct leases ls = LEASES_CLOSED;
	bool recorded = false;

	if (open_with_lease(c, &ls, why) == -1)
		return -1;
	if (may_hold && hold(p, &ls, line, &recorded, why) == 0)
		return 0;
	undo_hold(c, &ls, recorded);
	return -1;
}

/* 1: as lock_and_take(). */
static int
have_again(struct ruling *r, struct plan *p, struct refusal *f)
{
	struct audit_line line = { .suppressed = 0 };
	int ret;

	if (rule_again(r, &p->lease, &f->why) == -1 || find_subject(p, &f->why) == -1)
		return -1;
	/* only a container's first task waits */
	if (p->lease.pausing.used)
		r->decision.grant.wait = 0;
	narrow(&r->decision, &p->lease);
	if ((ret = lock_and_take(p, f)) != 0)
		return ret;
	ret = hold_or_undo(p, check_alone(p, f) == 0 && count_record(p, &line, &f->why) == 0, &line, &f->why);
	audit_line_end(r->call->audit, &line);
	return ret;
}

static void
answer_without(const struct plan *p, struct refusal *f, struct reply *reply, struct why *without)
{
	reply->why = f->why;
	if (f->waits) {
		refusal_answer_busy(f, p->ruling->decision.grant.wait, reply);
		return;
	}
	*without = f->why;
	if (!p->lease.pausing.used) {
		reply->kind = REPLY_REFUSED;
		refuse_within(&reply->why, "its GPU was given to others, since nothing was started in this container for too long");
	} else
		snprintf(reply->line, sizeof(reply->line), "no GPU: this container gave it back when its task was over, and does "
		    "not get it again now (%.300s)", f->why.text);
}

static void
answer_with(const struct plan *p, struct refusal *f, struct reply *reply, struct why *without)
{
	const struct lease *l = &p->lease;
	char line[LEASE_LINE_MAX];

	lease_describe(l, line);
	snprintf(reply->line, sizeof(reply->line), "%s", line);
	if (idle_add_chore(&reply->chores, CHORE_OPEN, l, l->pausing.giver))
		return;
	refuse_nomem(&f->why);
	answer_without(p, f, reply, without);
}

void
come_back(const struct call *c, struct reply *reply, struct why *without)
{
	autorefusal struct refusal f = { .waits = false };
	autoruling struct ruling r = { .call = c };
	autoplan struct plan p = { .ruling = &r };
	int ret;

	if ((ret = read_this_lease(c, &p.lease, &f.why)) == -1) {
		*reply = (struct reply){ .kind = f.why.code == WHY_AGAIN ? REPLY_BUSY : REPLY_REFUSED, .why = f.why };
		return;
	}
	if (ret == 0)
		ret = have_again(&r, &p, &f);
	*reply = (struct reply){ .kind = ret == 1 ? REPLY_BUSY : REPLY_NOTED };
	if (ret == 1)
		refuse(&reply->why, WHY_AGAIN, "the lease of container %s is changing", c->request->id);
	else if (ret == 0)
		answer_with(&p, &f, reply, without);
	else
		answer_without(&p, &f, reply, without);
}
