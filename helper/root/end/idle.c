/*
 * See idle.h. Cgroup v1's device rules show whether a container can open its nodes. v2 shows its rules to nobody: there
 * the helper trusts root's wrapper, which could open everything itself.
 */
#include "idle.h"

#include <string.h>
#include <time.h>

#include "../../host/cgroup/container.h"
#include "../../host/clock.h"
#include "../../host/process/process.h"
#include "../child/looker.h"
#include "../lease/leasewrite.h"
#include "../lease/teamshares.h"
#include "../log/audit.h"
#include "../node/changes.h"
#include "devicelock.h"

/* Only the host's root can do operations, and a wrapper that has just failed at one gets no other. */
static bool
may_have_ops(const struct call *c)
{
	return c->peer->client.uid == 0 && c->peer->client.rootful && !c->request->retry.no_ops;
}

enum idleness
idle_classify(const struct lease *l)
{
	struct activity s;

	looker_ask_activity(l, &s);
	return activity_classify(&s);
}

bool
caller_ops_add_for(struct caller_ops *all, enum op_kind kind, const struct lease *l, struct process_id by)
{
	struct caller_op *c = caller_ops_add(all);
	size_t i;

	if (c == NULL)
		return false;
	c->kind = kind;
	c->init = l->container.init;
	c->by = by;
	memcpy(c->lease, l->key, sizeof(c->lease));
	if ((c->file = strdup(l->name)) == NULL || (c->id = strdup(l->id)) == NULL ||
	    (c->devcgroup = strdup(l->tasks.devcgroup)) == NULL)
		return false;
	for (i = 0; i < l->container.cgroups.n; i++)
		if (!strlist_add(&c->cgroups, l->container.cgroups.v[i], SIZE_MAX))
			return false;
	for (i = 0; i < l->tasks.nodes; i++)
		if (!caller_op_add_node(c, &l->tasks.node[i]))
			return false;
	return true;
}

/* True if the lease promises one of the GPUs that are wanted. */
static bool
has_demanded(const struct lease *l, const struct queued *queued)
{
	return queued == NULL || gpu_demands_any(queued->demand, queued->demands, l->tasks.promised_gpu,
	    l->tasks.promised_gpus);
}

static int
set_state(const struct idle *i, struct lease *l, enum lease_state state, struct why *why)
{
	l->state = state;
	return leases_write(i->leases, l, why);
}

int
idle_return_gpus(struct leases *ls, struct lease *l, int audit, struct why *why)
{
	/* the next scan tries again to undo the rest */
	if (changes_undo_access(ls, l, why) == -1)
		return -1;
	if (audit != -1)
		(void)audit_lease(audit, "gave-back", l);
	team_shares_note(l);
	lease_forget_gpus(l);
	lease_tasks_allow(&l->tasks, NULL, 0);
	l->tasks.task = l->tasks.changer = (struct process_id){ 0 };
	l->tasks.left_since = 0;
	l->planned = false;
	l->state = LEASE_PROMISED;
	l->since = time(NULL);
	return leases_write(ls, l, why);
}

static bool
says_revoked(const struct request *r, const struct lease *l)
{
	size_t i;

	for (i = 0; i < r->retry.revoked.n; i++)
		if (strcmp(r->retry.revoked.v[i], l->key) == 0)
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

	l->scan.has_access = promises ? !container_is_denied(l) : !container_has_no_more(l);
	if (!l->scan.has_access || !may_have_ops(i->call) || !(promises || l->state == LEASE_HELD))
		return 0;
	if (device_lock_make(l, why) == -1)
		return -1;
	return caller_ops_add_for(i->ops, promises ? OP_DENY : OP_ALLOW, l, (struct process_id){ 0 }) ? 0 : refuse_nomem(why);
}

int
idle_finish(const struct idle *i, const struct queued *queued, struct why *why)
{
	const struct process_id asker = call_process(i->call);
	struct why ignored;
	struct lease *l;
	size_t k;

	for (k = 0; k < i->leases->n; k++) {
		l = i->leases->v[k];
		if (!l->gpus_by_task || l->scan.over || !l->scan.done || l->container.init.pid == 0 || l->state == LEASE_RELEASING)
			continue;
		if (may_have_ops(i->call) && says_revoked(i->call->request, l) &&
		    may_end_revoking(l->state, &l->tasks, idle_classify(l), &asker) && container_is_denied(l))
			(void)idle_return_gpus(i->leases, l, i->call->audit, &ignored);
		if (has_demanded(l, queued) && check_rules(i, l, why) == -1)
			return -1;
	}
	return 0;
}

static enum op_kind
op_for(const struct lease *l, enum idleness idleness)
{
	return l->tasks.idle == IDLE_STOP ? OP_STOP : idleness == IDLENESS_LEFT ? OP_CLEAR : OP_DENY;
}

/* Notes when the task was first seen to have ended and left processes behind; else resets that. */
static void
note_left(const struct idle *i, struct lease *l, enum idleness idleness)
{
	int64_t since = idleness != IDLENESS_LEFT ? 0 : l->tasks.left_since != 0 ? l->tasks.left_since : clock_ms();
	struct why ignored;

	if (since == l->tasks.left_since)
		return;
	l->tasks.left_since = since;
	(void)leases_write(i->leases, l, &ignored);
}

/*
 * Takes back a state that nobody works on. LEASE_REVOKING: the container keeps its GPUs, even if its device rules deny
 * the nodes by now: its task is over. LEASE_ACQUIRING: the task got none yet.
 */
static int
reset_state(const struct idle *i, struct lease *l, struct why *why)
{
	struct why ignored;

	if (l->state == LEASE_REVOKING)
		return set_state(i, l, LEASE_HELD, why);
	(void)idle_return_gpus(i->leases, l, -1, &ignored);
	return 0;
}

static int
write_revoking(const struct idle *i, struct lease *l, enum idleness idleness, struct why *why)
{
	const struct process_id asker = call_process(i->call);

	/* asking again does not extend the deadline of a process that revokes the GPUs */
	if (l->state != LEASE_REVOKING || !process_id_same(&l->tasks.changer, &asker))
		l->tasks.changing_since = clock_ms();
	l->tasks.changer = asker;
	if (device_lock_make(l, why) == -1 || set_state(i, l, LEASE_REVOKING, why) == -1)
		return -1;
	return caller_ops_add_for(i->ops, op_for(l, idleness), l, asker) ? 0 : refuse_nomem(why);
}

static int
begin_one(const struct idle *i, struct lease *l, bool *soon, struct why *why)
{
	const enum idleness idleness = idle_classify(l);
	const struct process_id asker = call_process(i->call);
	const int64_t now = clock_ms();
	const bool lives = process_id_lives(l->tasks.changer), mine = process_id_same(&l->tasks.changer, &asker);
	const bool changing = l->state == LEASE_REVOKING || l->state == LEASE_ACQUIRING;

	note_left(i, l, idleness);
	if (may_have_ops(i->call) && may_revoke(l->state, &l->tasks, idleness, &asker, lives, now)) {
		*soon = true;
		return write_revoking(i, l, idleness, why);
	}
	if (changing && (mine || changer_is_stale(&l->tasks, lives, now)))
		return reset_state(i, l, why);
	*soon = *soon || changing;
	return 0;
}

int
idle_begin(const struct idle *i, const struct queued *queued, bool *soon, struct why *why)
{
	struct lease *l;
	size_t k;

	*soon = false;
	for (k = 0; k < i->leases->n && i->ops->n < REQUEST_REVOKED_MAX; k++) {
		l = i->leases->v[k];
		if (!l->gpus_by_task || !l->scan.done || l->scan.over || lease_only_promises(l) || l->state == LEASE_RELEASING)
			continue;
		if (i->policy != NULL && strcmp(l->policy, i->policy) != 0)
			continue;
		if (has_demanded(l, queued) && begin_one(i, l, soon, why) == -1)
			return -1;
	}
	return 0;
}
