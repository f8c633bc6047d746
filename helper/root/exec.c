/*
 * VERB_EXEC: a task begins in a container whose first process only pauses.  The
 * process that asks becomes the runtime that puts it there; until that has ended,
 * the task may be nowhere to be seen, and the lease lives on it.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../host/clock.h"
#include "../host/process.h"
#include "audit.h"
#include "back.h"
#include "idle.h"
#include "leaseend.h"
#include "leasewrite.h"
#include "owncgroup.h"
#include "verb.h"

/* Those that have ended put nobody there any more. */
static void
forget_ended(struct pausing *p)
{
	size_t i, n;

	for (i = 0, n = 0; i < p->execs; i++)
		if (process_id_lives(p->exec[i]))
			p->exec[n++] = p->exec[i];
	p->execs = n;
}

static int
note_exec(const struct peer *p, const struct leases *ls, struct lease *l, struct why *why)
{
	forget_ended(&l->pausing);
	if (!pausing_add_exec(&l->pausing, (struct process_id){ p->pid, p->start }))
		return refuse(why, WHY_AGAIN, "container %s: %zu processes are being started in it: try again", l->id,
		    l->pausing.execs);
	l->pausing.used = true;
	l->pausing.left_since = 0;
	l->state = LEASE_HELD;
	return leases_write(ls, l, why);
}

/* Its GPUs are there, or will be once its access is opened again. */
static void
begin(const struct peer *p, const struct leases *ls, struct lease *l, bool open, struct reply *reply)
{
	char line[LEASE_LINE_MAX];

	reply->kind = REPLY_REFUSED;
	if (note_exec(p, ls, l, &reply->why) == -1)
		return;
	if (open && !idle_add_chore(&reply->chores, CHORE_OPEN, l, (struct process_id){ p->pid, p->start })) {
		refuse_nomem(&reply->why);
		return;
	}
	reply->kind = REPLY_NOTED;
	lease_describe(l, line);
	snprintf(reply->line, sizeof(reply->line), "%s", line);
}

/* Under the lock.  True: there is more to do than that, without it. */
static bool
look_at_lease(const struct peer *p, const struct request *r, struct leases *ls, int audit, struct reply *reply)
{
	const struct idle idle = { &(struct call){ p, r, audit }, ls, &reply->chores };
	const struct waiter nothing = { 0 };
	struct lease *l = leases_find(ls, p->asker.uid, r->runtime_root, r->id);

	*reply = (struct reply){ .kind = REPLY_NOTED };
	if (idle_finish(&idle, &nothing, &reply->why) == -1) {
		reply->kind = REPLY_REFUSED;
		return false;
	}
	if (l == NULL || !l->pauses)
		return false;
	switch (turn_of_exec(l->state, &l->pausing, process_id_lives(l->pausing.giver), clock_ms())) {
	case EXEC_GOES_ON:
		if (l->state == LEASE_HELD)
			begin(p, ls, l, false, reply);
		break;
	case EXEC_OPENS:
		begin(p, ls, l, true, reply);
		break;
	case EXEC_WAITS:
		reply->kind = REPLY_BUSY;
		refuse(&reply->why, WHY_AGAIN, "the GPU of container %s is being given back", l->id);
		break;
	case EXEC_COMES_BACK:
		return true;
	}
	return false;
}

void
verb_exec(const struct peer *p, const struct request *r, struct reply *reply)
{
	struct leases ls = LEASES_CLOSED;
	/* and those that it says it has shut: only root may */
	struct concern c = { .keys = p->asker.uid == 0 ? &r->shut : NULL };
	bool back = false;
	char key[65];
	int audit;

	*reply = (struct reply){ .kind = REPLY_REFUSED };
	lease_key(p->asker.uid, r->runtime_root, r->id, key);
	c.key = key;
	if ((audit = audit_open(&reply->why)) != -1 && leave_cgroup(p->starter, &reply->why) == 0) {
		if (leases_open(&ls, p->asker.uid, &reply->why) == 0 &&
		    leases_look(&ls, &c, audit, &reply->why) == 0)
			back = look_at_lease(p, r, &ls, audit, reply);
		else if (reply->why.code == WHY_AGAIN)
			reply->kind = REPLY_BUSY;
	}
	leases_close(&ls);
	if (back) {
		reply_free(reply);
		come_back(&(struct call){ p, r, audit }, reply);
	}
	if (audit != -1)
		close(audit);
}
