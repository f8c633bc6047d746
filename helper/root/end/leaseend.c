/*
 * See leaseend.h. Relies on what it sees of processes, cgroups and mounts. An earlier run may have left files
 * unfinished. What can't be undone now is left to the next run.
 */
#include "leaseend.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../../base/cleanup.h"
#include "../../base/times.h"
#include "../../host/cgroup/cgroup.h"
#include "../child/looker.h"
#include "../lease/leasewrite.h"
#include "../lease/queue.h"
#include "../lease/teamshares.h"
#include "../lease/usedtoken.h"
#include "../log/audit.h"
#include "../node/changes.h"
#include "devicelock.h"
#include "execrecord.h"

#define LATE_S 5	/* for a clock of whole seconds, and a helper that is slow to start */

/* How much longer one user's leases may be scanned while others wait (host/process/scanbudget.h). */
struct user_limits {
	uint32_t uid;
	struct scan_limits left;
};
struct reap {
	struct user_limits *limits;
	size_t user_count;
	struct budget leak_budget;	/* for leaked mounts */
	bool listed;		/* the looker has listed the processes since changes were last undone */
};

static struct scan_limits *
limits_of_user(struct reap *s, uint32_t uid)
{
	struct user_limits *v;
	size_t i;

	for (i = 0; i < s->user_count; i++)
		if (s->limits[i].uid == uid)
			return &s->limits[i].left;
	if ((v = reallocarray(s->limits, s->user_count + 1, sizeof(*v))) == NULL)
		return NULL;
	s->limits = v;
	/* nobody can make root's cgroups large on purpose, so scan_lease() gives each of root's leases limits of its own */
	v[s->user_count++] = (struct user_limits){ uid, { .budget.left = SCAN_STEPS, .dirs = 4 * CGROUP_DIRS } };
	return &v[i].left;
}

/* Asks the looker about one lease. */
static void
scan_lease(const struct lease *l, struct reap *reap, struct scan_limits *limits, bool boot_only,
    struct lease_status *out)
{
	if (l->uid == 0) {
		limits->dirs = CGROUP_DIRS;
		limits->stalled = false;
	}
	looker_ask_status(l, boot_only, !reap->listed, limits, out);
	reap->listed = reap->listed || !limits->stalled;
}

/*
 * True if lease o has all writable folders of l, and lasts. A lease that is still being granted does not count: it
 * may be taken back without a scan for leaked mounts.
 */
static bool
covers(const struct lease *o, const struct lease *l)
{
	size_t k;

	if (o == l || o->scan.over || !o->container.host_root || (o->container.init.pid == 0 && o->state != LEASE_LEAKED))
		return false;
	for (k = 0; k < l->lookups; k++)
		if (l->lookup[k].writable && !lease_has_lookup(o, &l->lookup[k]))
			return false;
	return true;
}

/* True if a lease that lasts has the same folders. The end of that lease will show whether they have leaked. */
static bool
is_covered(const struct leases *ls, const struct lease *l)
{
	size_t i;

	for (i = 0; i < ls->n; i++)
		if (covers(ls->v[i], l))
			return true;
	return false;
}

/*
 * True if the container could write as the host's root, and a process still has files open on its mounts
 * (look/leakedmounts.h).
 */
static bool
has_leaked_mount(const struct leases *ls, const struct lease *l, struct reap *reap)
{
	return lease_writes_as_root(l) && !is_covered(ls, l) && looker_ask_leaked(l, &reap->leak_budget);
}

/* Removes the lease last: as long as there is an exec record, there must be a lease by which it will be removed. */
static int
remove_files(const struct leases *ls, const struct lease *l, struct why *why)
{
	if (exec_record_remove(l->uid, l->root, l->id, why) == -1 || device_lock_remove(l, why) == -1)
		return -1;
	if (unlinkat(ls->dir, l->name, 0) == -1 && errno != ENOENT)
		return refuse(why, WHY_IO, "%s/leases/%s: %s", GPUHELPER_RUNDIR, l->name, strerror(errno));
	queue_note_change(ls->dir);
	return 0;
}

int
leases_remove(struct leases *ls, struct lease *l, struct why *why)
{
	if (changes_undo(ls, l, why) == -1)
		return -1;
	/* a lease that was never written has no file */
	return l->name[0] != '\0' ? remove_files(ls, l, why) : 0;
}

/* For a container that is gone, but whose folders have leaked: frees its GPUs, and keeps only the folders. */
static void
keep_lookups(struct leases *ls, struct lease *l, int audit)
{
	struct why stuck;

	if (changes_undo(ls, l, &stuck) == -1)
		return;
	if (!audit_lease(audit, "end", l) || exec_record_remove(l->uid, l->root, l->id, &stuck) == -1 ||
	    device_lock_remove(l, &stuck) == -1)
		return;
	team_shares_note(l);
	lease_keep_lookups(l);
	(void)leases_write(ls, l, &stuck);
}

/* Ends a lease that is over: undoes it, records its end, removes it. False: it stays, and holds what it held. */
static bool
end_one(struct leases *ls, struct lease *l, int audit)
{
	struct why stuck;

	if (changes_undo(ls, l, &stuck) == -1)
		return false;
	/* recorded before it is removed: two records are better than none */
	if (!(l->state == LEASE_LEAKED || audit_lease(audit, "end", l)) || remove_files(ls, l, &stuck) == -1)
		return false;
	team_shares_note(l);
	return true;
}

/* True if the lease is only planned: nothing was done for it, so nobody can have a node open because of it. */
static bool
is_untouched(const struct lease *l)
{
	return l->planned && (l->state == LEASE_HELD || l->state == LEASE_PROMISED);
}

/*
 * True if nothing was done for the lease, and its helper must have ended without taking it back (it was killed, or did
 * not get the lock). Whether the process that asked lives does not count: its user can keep it alive for ever.
 */
static bool
is_abandoned(const struct lease *l)
{
	return is_untouched(l) && time(NULL) - l->since > (l->uid == 0 ? RUN_MAX_OF_ROOTS_S : RUN_MAX_S) + LATE_S;
}

/*
 * True if the lease must be released first. A process that keeps opening and closing a node could have it closed during
 * the scan, and open it right after. So the helper first undoes the changes that let the process open the node, and
 * then looks who has it open.
 */
static bool
must_release(const struct lease *l, bool same_boot)
{
	return same_boot && l->container.users > 0 && l->nodes > 0 && !is_untouched(l) && ledger_has(l->key);
}

static bool
release_fully(struct leases *ls, struct lease *l)
{
	struct why ignored;

	/* the disk may be full: undo the changes all the same, so that the lease can end */
	l->state = LEASE_RELEASING;
	(void)leases_write(ls, l, &ignored);
	return changes_undo(ls, l, &ignored) == 0;
}

enum outcome {
	OUTCOME_STAYS,
	OUTCOME_GONE,
	OUTCOME_RELEASING,	/* must be scanned once more */
};

/* Finds out whether a lease is over, and ends it. With audit -1, only notes that. */
static enum outcome
end_if_over(struct leases *ls, struct lease *l, struct reap *reap, struct scan_limits *limits, int audit)
{
	const bool no_container = l->state == LEASE_LEAKED || is_abandoned(l), was_releasing = l->scan.releasing;
	bool same_boot, live, leaked;
	struct why stuck;
	struct lease_status status;

	scan_lease(l, reap, limits, no_container, &status);
	same_boot = !status.of_another_boot;
	live = same_boot && !no_container && status.in_use;
	leaked = same_boot && !live && has_leaked_mount(ls, l, reap);
	l->scan.over = !live && !leaked;
	l->scan.done = true;
	l->scan.releasing = false;
	if (audit == -1)
		return OUTCOME_STAYS;
	if (!live && !was_releasing && must_release(l, same_boot)) {
		l->scan.releasing = release_fully(ls, l);
		l->scan.done = !l->scan.releasing;
		return l->scan.releasing ? OUTCOME_RELEASING : OUTCOME_STAYS;
	}
	if (l->scan.over)
		return end_one(ls, l, audit) ? OUTCOME_GONE : OUTCOME_STAYS;
	if (leaked && l->state != LEASE_LEAKED)
		keep_lookups(ls, l, audit);
	else if (l->state == LEASE_RELEASING)
		/* an earlier attempt may have been interrupted */
		(void)changes_undo(ls, l, &stuck);
	if (was_releasing && live)
		(void)audit_lease(audit, "draining", l);
	return OUTCOME_STAYS;
}

/* Ends each lease that is over. *again: some are being released, and must be scanned once more. */
static int
end_each(struct leases *ls, struct reap *reap, int audit, bool *again, struct why *why)
{
	struct scan_limits *limits;
	enum outcome outcome;
	size_t i = 0;

	*again = false;
	while (i < ls->n) {
		struct lease *l = ls->v[i++];

		if (l->scan.done)
			continue;
		if ((limits = limits_of_user(reap, l->uid)) == NULL)
			return refuse_nomem(why);
		outcome = end_if_over(ls, l, reap, limits, audit);
		*again = *again || outcome == OUTCOME_RELEASING;
		if (outcome == OUTCOME_GONE)
			/* leases_forget() put another lease in its place */
			leases_forget(ls, --i);
	}
	return 0;
}

/* This loop ends, because each lease begins to be released only once. */
static int
end_those_over(struct leases *ls, struct reap *reap, int audit, struct why *why)
{
	bool again;
	int ret;

	while ((ret = end_each(ls, reap, audit, &again, why)) == 0 && again)
		reap->listed = false;
	return ret;
}

int
leases_reap(struct leases *ls, int audit, struct why *why)
{
	struct reap reap = { .leak_budget = { .left = UINT_MAX } };
	const int ret = end_those_over(ls, &reap, audit, why);

	free(reap.limits);
	return ret;
}

/*
 * Takes a lease back: undoes its changes, records that, and removes the lease, or returns 1 if a process still has its
 * nodes open. With tell NULL, nobody was told of the lease, so nobody can have anything open: removes it at once, or
 * returns 1 if another helper is releasing it.
 */
static int
take_back(struct leases *ls, struct lease *l, const struct undo_recorder *tell, struct why *why)
{
	bool used = false;

	if (tell == NULL)
		return l->state == LEASE_HELD || l->state == LEASE_PROMISED ? leases_remove(ls, l, why) : 1;
	if (l->container.users == 0 || l->nodes == 0) {
		if (changes_undo(ls, l, why) == -1)
			return -1;
	} else {
		if (leases_release(ls, l, why) == -1)
			return -1;
		used = ledger_has(l->key) || looker_ask_rootless_use(l);
	}
	tell->say(tell->ctx, used);
	return used ? 1 : remove_files(ls, l, why);
}

int
leases_drop(const struct peer *peer, const char *root, const char *id, const char *used_token,
    const struct undo_recorder *tell, struct why *why)
{
	autoleases struct leases ls = LEASES_CLOSED;
	struct lease *l;
	char key[LEASE_KEY_SIZE];

	lease_key(peer->client.uid, root, id, key);
	if (leases_lock_as_holder(&ls, peer->client.uid, why) == -1 ||
	    (l = leases_find_of(&ls, key, (struct process_id){ peer->pid, peer->start }, peer->boot, why)) == NULL)
		return -1;
	/* before the lease is removed: after that, another container of its name could already rely on the record */
	used_token_drop(used_token);
	return take_back(&ls, l, tell, why);
}

int
leases_release(struct leases *ls, struct lease *l, struct why *why)
{
	struct why ignored;

	l->state = LEASE_RELEASING;
	if (leases_write(ls, l, why) == -1)
		return -1;
	(void)changes_undo(ls, l, &ignored);
	return 0;
}
