/*
 * See idle.h. Cgroup v1's device rules show whether a container is shut out. v2 shows its rules to nobody: there the
 * helper trusts root's wrapper, which could open everything itself.
 */
#include "idle.h"

#include <string.h>
#include <time.h>

#include "../../host/cgroup/container.h"
#include "../../host/clock.h"
#include "../../host/process/process.h"
#include "../child/looker.h"
#include "../lease/leasewrite.h"
#include "../lease/shares.h"
#include "../log/audit.h"
#include "../node/acts.h"
#include "devicelock.h"

/* Only the host's root can do chores, and a wrapper that has just failed at one gets no other. */
static bool
may_have_chores(const struct call *c)
{
	return c->peer->asker.uid == 0 && c->peer->asker.rootful && !c->request->again.no_chores;
}

enum idleness
idle_classify(const struct lease *l)
{
	struct sight s;

	looker_sees_task(l, &s);
	return pausing_classify(&s);
}

bool
idle_add_chore(struct chores *all, enum chore_kind kind, const struct lease *l, struct process_id by)
{
	struct chore *c = chores_add(all);
	size_t i;

	if (c == NULL)
		return false;
	c->kind = kind;
	c->init = l->container.init;
	c->by = by;
	memcpy(c->lease, l->key, sizeof(c->lease));
	if ((c->file = strdup(l->name)) == NULL || (c->id = strdup(l->id)) == NULL ||
	    (c->devcgroup = strdup(l->pausing.devcgroup)) == NULL)
		return false;
	for (i = 0; i < l->container.cgroups.n; i++)
		if (!strlist_add(&c->cgroups, l->container.cgroups.v[i], SIZE_MAX))
			return false;
	for (i = 0; i < l->pausing.nodes; i++)
		if (!chore_add_node(c, &l->pausing.node[i]))
			return false;
	return true;
}

/* True if the lease promises one of the GPUs that are wanted. */
static bool
has_wanted(const struct lease *l, const struct queued *wants)
{
	return wants == NULL || pick_wants_any(wants->want, wants->wants, l->pausing.may, l->pausing.mays);
}

static int
set_state(const struct idle *i, struct lease *l, enum lease_state state, struct why *why)
{
	l->state = state;
	return leases_write(i->leases, l, why);
}

int
idle_promise(struct leases *ls, struct lease *l, int audit, struct why *why)
{
	/* the next look tries again to undo the rest */
	if (acts_undo_access(ls, l, why) == -1)
		return -1;
	if (audit != -1)
		(void)audit_lease(audit, "gave-back", l);
	shares_note(l);
	lease_forget_gpus(l);
	pausing_open(&l->pausing, NULL, 0);
	l->pausing.task = l->pausing.giver = (struct process_id){ 0 };
	l->pausing.left_since = 0;
	l->planned = false;
	l->state = LEASE_PROMISED;
	l->since = time(NULL);
	return leases_write(ls, l, why);
}

static bool
says_shut(const struct request *r, const struct lease *l)
{
	size_t i;

	for (i = 0; i < r->again.shut.n; i++)
		if (strcmp(r->again.shut.v[i], l->key) == 0)
			return true;
	return false;
}

/*
 * An engine may have written a container's first device rules again, which only cgroup v1 shows. Until that is repaired
 * nobody else gets a GPU that the container could use, and the container must not have it either, whatever runs in it.
 */
static int
check_rules(const struct idle *i, struct lease *l, struct why *why)
{
	const bool promises = lease_only_promises(l);

	l->seen.reopened = promises ? !container_is_shut(l) : !container_has_no_more(l);
	if (!l->seen.reopened || !may_have_chores(i->call) || !(promises || l->state == LEASE_HELD))
		return 0;
	if (device_lock_make(l, why) == -1)
		return -1;
	return idle_add_chore(i->chores, promises ? CHORE_SHUT : CHORE_OPEN, l, (struct process_id){ 0 }) ? 0 :
	    refuse_nomem(why);
}

int
idle_finish(const struct idle *i, const struct queued *wants, struct why *why)
{
	const struct process_id self = call_process(i->call);
	struct why ignored;
	struct lease *l;
	size_t k;

	for (k = 0; k < i->leases->n; k++) {
		l = i->leases->v[k];
		if (!l->pauses || l->seen.over || !l->seen.done || l->container.init.pid == 0 || l->state == LEASE_DRAINING)
			continue;
		if (may_have_chores(i->call) && says_shut(i->call->request, l) &&
		    may_end_giving(l->state, &l->pausing, idle_classify(l), &self) && container_is_shut(l))
			(void)idle_promise(i->leases, l, i->call->audit, &ignored);
		if (has_wanted(l, wants) && check_rules(i, l, why) == -1)
			return -1;
	}
	return 0;
}

static enum chore_kind
chore_for(const struct lease *l, enum idleness idleness)
{
	return l->pausing.idle == IDLE_STOP ? CHORE_STOP : idleness == IDLENESS_LEFT ? CHORE_CLEAR : CHORE_SHUT;
}

/* Notes when the task was first seen to have ended and left processes behind; else resets that. */
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
 * Takes back a mark that nobody acts on. LEASE_GIVING_BACK: the container keeps its GPUs, even if its nodes are shut by
 * now: its task is over. LEASE_TAKING: the task got none yet.
 */
static int
drop_mark(const struct idle *i, struct lease *l, struct why *why)
{
	struct why ignored;

	if (l->state == LEASE_GIVING_BACK)
		return set_state(i, l, LEASE_HELD, why);
	(void)idle_promise(i->leases, l, -1, &ignored);
	return 0;
}

static int
mark_giving(const struct idle *i, struct lease *l, enum idleness idleness, struct why *why)
{
	const struct process_id self = call_process(i->call);

	/* asking again does not extend the deadline of a process that gives the GPUs back */
	if (l->state != LEASE_GIVING_BACK || !process_id_same(&l->pausing.giver, &self))
		l->pausing.giving_since = clock_ms();
	l->pausing.giver = self;
	if (device_lock_make(l, why) == -1 || set_state(i, l, LEASE_GIVING_BACK, why) == -1)
		return -1;
	return idle_add_chore(i->chores, chore_for(l, idleness), l, self) ? 0 : refuse_nomem(why);
}

static int
begin_one(const struct idle *i, struct lease *l, bool *soon, struct why *why)
{
	const enum idleness idleness = idle_classify(l);
	const struct process_id self = call_process(i->call);
	const int64_t now = clock_ms();
	const bool lives = process_id_lives(l->pausing.giver), mine = process_id_same(&l->pausing.giver, &self);
	const bool marked = l->state == LEASE_GIVING_BACK || l->state == LEASE_TAKING;

	note_left(i, l, idleness);
	if (may_have_chores(i->call) && may_give_back(l->state, &l->pausing, idleness, &self, lives, now)) {
		*soon = true;
		return mark_giving(i, l, idleness, why);
	}
	if (marked && (mine || giving_is_stale(&l->pausing, lives, now)))
		return drop_mark(i, l, why);
	*soon = *soon || marked;
	return 0;
}

int
idle_begin(const struct idle *i, const struct queued *wants, bool *soon, struct why *why)
{
	struct lease *l;
	size_t k;

	*soon = false;
	for (k = 0; k < i->leases->n && i->chores->n < REQUEST_SHUT_MAX; k++) {
		l = i->leases->v[k];
		if (!l->pauses || !l->seen.done || l->seen.over || lease_only_promises(l) || l->state == LEASE_DRAINING)
			continue;
		if (i->policy != NULL && strcmp(l->policy, i->policy) != 0)
			continue;
		if (has_wanted(l, wants) && begin_one(i, l, soon, why) == -1)
			return -1;
	}
	return 0;
}
