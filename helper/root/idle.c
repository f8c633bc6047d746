/*
 * See idle.h.  Believes its own eyes; where cgroup v2 lets nobody see who may open
 * what, the word of root's wrapper, which could open everything itself.
 */
#include "idle.h"

#include <stdlib.h>
#include <string.h>

#include "../host/clock.h"
#include "../host/container.h"
#include "../host/process.h"
#include "acts.h"
#include "audit.h"
#include "gatelock.h"
#include "leasewrite.h"
#include "looker.h"

static struct process_id
me(const struct idle *i)
{
	return (struct process_id){ i->peer->pid, i->peer->start };
}

/* Only root of the host can do chores, and only who has not just failed at one is given more. */
static bool
may_have_chores(const struct idle *i)
{
	return i->peer->asker.uid == 0 && i->peer->asker.enforced && !i->request->no_chores;
}

enum idleness
idle_judge(const struct lease *l)
{
	struct sight s;

	looker_sees_task(l, &s);
	return pausing_judge(&l->pausing, &s, clock_ms());
}

bool
idle_add_chore(struct chores *all, enum chore_kind kind, const struct lease *l, struct process_id by)
{
	struct chore *c = chores_add(all);
	size_t i;

	if (c == NULL)
		return false;
	c->kind = kind;
	c->init = l->init;
	c->by = by;
	memcpy(c->lease, l->key, sizeof(c->lease));
	if ((c->file = strdup(l->name)) == NULL || (c->id = strdup(l->id)) == NULL ||
	    (c->gate = strdup(l->pausing.gate)) == NULL)
		return false;
	for (i = 0; i < l->cgroups.n; i++)
		if (!strlist_add(&c->cgroups, l->cgroups.v[i], SIZE_MAX))
			return false;
	for (i = 0; i < l->nodes; i++)
		if (!chore_add_node(c, l->node[i].major, l->node[i].minor))
			return false;
	return true;
}

/* Has the lease, or had it, any of the GPUs that are wanted? */
static bool
concerns(const struct lease *l, const struct waiter *wants)
{
	return wants == NULL || pick_wants_any(wants->want, wants->wants, l->gpu, l->gpus);
}

static int
change(const struct idle *i, struct lease *l, enum lease_state state, struct why *why)
{
	l->state = state;
	return leases_write(i->leases, l, why);
}

/* The lease is over, and the container stays: the file too, for what the container has besides, and may have again. */
static void
give_back(const struct idle *i, struct lease *l)
{
	struct why ignored;

	/* what can't be undone now is tried again by the next who looks */
	if (acts_undo(i->leases, l, &ignored) == -1) {
		(void)leases_write(i->leases, l, &ignored);
		return;
	}
	(void)audit_lease(i->audit, "gave-back", l);
	l->pausing.left_since = 0;
	(void)change(i, l, LEASE_GIVEN_BACK, &ignored);
}

static bool
says_shut(const struct request *r, const struct lease *l)
{
	size_t i;

	for (i = 0; i < r->shut.n; i++)
		if (strcmp(r->shut.v[i], l->key) == 0)
			return true;
	return false;
}

/*
 * Of v1 anyone can see who may open what: an engine may have written its old rules
 * again.  Nobody has the GPU until that is mended, whatever runs in the container:
 * it is not to have it.
 */
static int
look_again(const struct idle *i, struct lease *l, struct why *why)
{
	l->reopened = !container_is_shut(l);
	if (!l->reopened || !may_have_chores(i))
		return 0;
	return idle_add_chore(i->chores, CHORE_SHUT, l, (struct process_id){ 0 }) ? 0 : refuse_nomem(why);
}

int
idle_finish(const struct idle *i, const struct waiter *wants, struct why *why)
{
	const struct process_id self = me(i);
	struct lease *l;
	size_t k;

	for (k = 0; k < i->leases->n; k++) {
		l = i->leases->v[k];
		if (!l->pauses || l->over || !l->judged)
			continue;
		if (may_have_chores(i) && says_shut(i->request, l) &&
		    turn_to_end(l->state, &l->pausing, idle_judge(l), &self) && container_is_shut(l))
			give_back(i, l);
		if (lease_is_given_back(l) && concerns(l, wants) && look_again(i, l, why) == -1)
			return -1;
	}
	return 0;
}

static enum chore_kind
chore_for(const struct lease *l, enum idleness idleness)
{
	return l->pausing.idle == IDLE_STOP ? CHORE_STOP : idleness == IDLENESS_LEFT ? CHORE_CLEAR : CHORE_SHUT;
}

/* When its task was first seen over, and what is left of it not. */
static void
note_left(const struct idle *i, struct lease *l, enum idleness idleness)
{
	int64_t since = idleness != IDLENESS_LEFT ? 0 : l->pausing.left_since != 0 ? l->pausing.left_since : clock_ms();
	struct why ignored;

	if (since == l->pausing.left_since)
		return;
	l->pausing.left_since = since;
	(void)leases_write(i->leases, l, &ignored);
}

/*
 * What nobody goes on with is undone: the next exec opens the nodes again, should
 * they be shut by now; one that was about to have them again has them not.
 */
static int
drop_mark(const struct idle *i, struct lease *l, struct why *why)
{
	if (l->state == LEASE_GIVING_BACK)
		return change(i, l, LEASE_HELD, why);
	if (l->state == LEASE_COMING_BACK)
		give_back(i, l);
	return 0;
}

static int
mark(const struct idle *i, struct lease *l, enum idleness idleness, struct why *why)
{
	const struct process_id self = me(i);

	/* who is at it already has no more time for it by asking again */
	if (l->state != LEASE_GIVING_BACK || !process_id_same(&l->pausing.giver, &self))
		l->pausing.giving_since = clock_ms();
	l->pausing.giver = self;
	l->pausing.shut = true;
	if (gate_lock_make(l, why) == -1 || change(i, l, LEASE_GIVING_BACK, why) == -1)
		return -1;
	return idle_add_chore(i->chores, chore_for(l, idleness), l, self) ? 0 : refuse_nomem(why);
}

static int
begin_one(const struct idle *i, struct lease *l, bool *soon, struct why *why)
{
	const enum idleness idleness = idle_judge(l);
	const struct process_id self = me(i);
	const int64_t now = clock_ms();
	const bool lives = process_id_lives(l->pausing.giver), mine = process_id_same(&l->pausing.giver, &self);
	const bool marked = l->state == LEASE_GIVING_BACK || l->state == LEASE_COMING_BACK;

	note_left(i, l, idleness);
	if (may_have_chores(i) && turn_to_give_back(l->state, &l->pausing, idleness, &self, lives, now)) {
		*soon = true;
		return mark(i, l, idleness, why);
	}
	if (marked && (mine || turn_is_stale(&l->pausing, lives, now)))
		return drop_mark(i, l, why);
	*soon = *soon || marked;
	return 0;
}

int
idle_begin(const struct idle *i, const struct waiter *wants, bool *soon, struct why *why)
{
	struct lease *l;
	size_t k;

	*soon = false;
	for (k = 0; k < i->leases->n && i->chores->n < REQUEST_SHUT_MAX; k++) {
		l = i->leases->v[k];
		if (l->pauses && l->judged && !l->over && !lease_is_given_back(l) && l->state != LEASE_DRAINING &&
		    concerns(l, wants) && begin_one(i, l, soon, why) == -1)
			return -1;
	}
	return 0;
}
