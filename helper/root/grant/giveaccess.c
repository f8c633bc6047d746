/* See giveaccess.h. */
#include "giveaccess.h"

#include "../end/execrecord.h"
#include "../lease/leasewrite.h"
#include "../log/audit.h"
#include "../node/changes.h"
#include "plangpus.h"

/* The record of the grant has neither these nodes nor the hash of this reply. */
static int
record_made_nodes(const struct plan *p, struct why *why)
{
	const struct call *c = p->authz->call;
	const struct record rec = { .event = "made-nodes", CLIENT_OF(c->peer), .request = c->request,
		.of_lease = p->lease.pipeline, .edits = &p->edits, .changes = &p->changes, .reply = p->reply_hash };

	return audit_write(c->audit, &rec, why);
}

/* Makes missing nodes first. Only then can the helper see what else they need, and add that to the lease. */
static int
make_missing_nodes(struct plan *p, struct leases *ls, struct why *why)
{
	const struct inventory *inv = &p->authz->decision.inventory;
	const struct new_node how = { inv->nvidia_mode, inv->nvidia_uid, inv->nvidia_gid };

	if (changes_make_nodes(&p->changes, &p->lease, &how, why) == -1)
		return -1;
	if (!changes_make_any(&p->changes))
		return 0;
	return plan_made_nodes(p, why) == -1 || p->write_reply(p, why) == -1 || leases_write_grown(ls, &p->lease, why) == -1 ?
	    -1 : record_made_nodes(p, why);
}

int
give_planned_access(struct plan *p, struct leases *ls, struct why *why)
{
	return make_missing_nodes(p, ls, why) == -1 ? -1 : changes_allow(&p->changes, &p->lease, why);
}

/*
 * Not under the lock, for which many may wait. Whoever ends the lease also removes the exec record, and nobody ends a
 * lease that is recorded while its asker lives. So if the asker lives after the record was written, the record will
 * be removed with the lease; otherwise it is removed here.
 */
int
record_for_execs(const struct plan *p, struct why *why)
{
	const struct lease *l = &p->lease;
	const bool tells = p->picked > 0 && plan_has_placeholder(p);

	if (exec_record_write(p->authz->call->peer, l, &p->edits, tells, why) == -1)
		return -1;
	if (process_id_lives(l->asker))
		return 0;
	(void)exec_record_remove(l->uid, l->root, l->id, why);
	return refuse(why, WHY_IO, "the process that asked, PID %d, is gone", l->asker.pid);
}

int
check_planned(const struct lease *planned, struct leases *ls, struct why *why)
{
	const struct lease *l = leases_find_of(ls, planned->key, planned->asker, planned->boot, why);

	if (l == NULL) {
		/* whoever ended the lease may have looked for the exec record before it was written */
		if (why->code == WHY_AGAIN && leases_find(ls, planned->uid, planned->root, planned->id) == NULL)
			(void)exec_record_remove(planned->uid, planned->root, planned->id, &(struct why){ 0 });
		return -1;
	}
	return l->planned == planned->planned && l->state == planned->state ? 0 :
	    refuse(why, WHY_AGAIN, "container %s: its lease is ending already", planned->id);
}

int
give_access(struct plan *p, struct why *why)
{
	autoleases struct leases ls = LEASES_CLOSED;
	const size_t groups = p->edits.gids;
	struct lease *l = &p->lease;

	/* without changes there is nothing to check */
	if (p->changes.n == 0)
		return 0;
	if (leases_lock_as_holder(&ls, l->uid, why) == -1 || check_planned(l, &ls, why) == -1)
		return -1;
	l->planned = false;
	if (leases_write(&ls, l, why) == -1 || give_planned_access(p, &ls, why) == -1)
		return -1;
	/* of a node that was missing, the group is known only now */
	if (p->edits.gids == groups)
		return 0;
	leases_close(&ls);
	return record_for_execs(p, why);
}
