/*
 * VERB_EXEC, VERB_BACK: a process is about to start in a container that may have a lease. The audit log records that.
 * If the container's first process only pauses, the new process is a task. The peer becomes the runtime that starts
 * the task. The helper may not see the task before the runtime has ended, so until then the runtime's process keeps
 * the lease.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../host/clock.h"
#include "../host/file.h"
#include "../host/process.h"
#include "audit.h"
#include "back.h"
#include "idle.h"
#include "leaseend.h"
#include "leasewrite.h"
#include "owncgroup.h"
#include "verb.h"

/* Drops the runtimes that have ended: they can start no more tasks. */
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

/* The lease has its GPUs. With «open», root's wrapper must first open the container's access to them again. */
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

/*
 * To be called under the lock. Fills in *reply, and *held with a copy of the lease, if there is one. True: the GPUs
 * were given back, so come_back() must be called, without the lock.
 */
static bool
look_at_lease(const struct peer *p, const struct request *r, struct leases *ls, int audit, struct lease *held,
    struct reply *reply)
{
	const struct idle idle = { &(struct call){ p, r, audit }, ls, &reply->chores };
	const struct waiter nothing = { 0 };
	struct lease *l = leases_find(ls, p->asker.uid, r->runtime_root, r->id);

	*reply = (struct reply){ .kind = REPLY_NOTED };
	if (idle_finish(&idle, &nothing, &reply->why) == -1) {
		reply->kind = REPLY_REFUSED;
		return false;
	}
	if (l == NULL || l->state == LEASE_PASSED_ON)
		return false;
	if (lease_copy(l, held, &reply->why) == -1) {
		reply->kind = REPLY_REFUSED;
		return false;
	}
	if (!l->pauses)
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

/* Names the lease's GPUs. The request names none. */
static bool
name_gpus(const struct lease *l, struct strlist *out)
{
	char name[64];
	size_t i;

	for (i = 0; i < l->gpus; i++) {
		name_held_gpu(&l->gpu[i], name);
		if (!strlist_add(out, name, SIZE_MAX))
			return false;
	}
	return true;
}

/*
 * Records the exec or its refusal. An exec gets nothing that the lease does not hold already, so it goes on even if its
 * record can't be written, and its user is told. back.c has recorded an exec for which the container got its GPUs back.
 */
static void
tell(int audit, const struct peer *p, const struct lease *l, const struct why *without, struct reply *reply)
{
	const bool refused = reply->kind == REPLY_REFUSED;
	const struct why told = refused ? reply->why : *without;
	const struct request about = { .id = l->id };
	struct record rec = { .event = refused ? "refuse" : "exec", ASKED_BY(p), .request = &about, .policy = l->policy };
	autostrlist struct strlist gpus = { 0 };
	autoknown struct known known = { 0 };
	char line[REPLY_LINE_MAX];
	struct why why;

	if (l->pausing.who != NULL && identity_unpack(l->pausing.who, &known))
		rec.known = &known;
	else
		rec.of_lease = l->pipeline;
	if (told.code != WHY_NONE)
		rec.why = &told;
	else if (name_gpus(l, &gpus))
		rec.gpus = &gpus;
	/* no message if the user has used up his share of the log: the log says that itself */
	if (audit_count_and_write(audit, &rec, refused ? RATE_REFUSAL : RATE_EXEC, &why) != -1)
		return;
	if (refused)
		refuse(&reply->why, told.code, "%.250s (not in " GPUHELPER_LOGDIR "/audit.jsonl: %.200s)", told.text, why.text);
	else {
		memcpy(line, reply->line, sizeof(line));
		snprintf(reply->line, sizeof(reply->line), "%.320s%sthis exec is not in " GPUHELPER_LOGDIR "/audit.jsonl: %.100s",
		    line, line[0] != '\0' ? "; " : "", why.text);
	}
}

/*
 * 0: *reply is filled in, and *held is a copy of the lease. 1: there is no lease, or only that of an ended container of
 * the same name, which stays because that container passed on a folder. -1 with reply->why.
 */
static int
note_in_lease(const struct peer *p, const struct request *r, struct lease *held, struct reply *reply)
{
	autoleases struct leases ls = LEASES_CLOSED;
	struct lease *l;
	char key[65];

	lease_key(p->asker.uid, r->runtime_root, r->id, key);
	if (leases_open(&ls, p->asker.uid, &reply->why) == -1 ||
	    leases_read(&ls, &(struct concern){ .key = key }, &reply->why) == -1)
		return -1;
	l = leases_find(&ls, p->asker.uid, r->runtime_root, r->id);
	if (l == NULL || l->state == LEASE_PASSED_ON)
		return 1;
	if (lease_copy(l, held, &reply->why) == -1)
		return -1;
	if (!l->pauses)
		reply->kind = REPLY_NOTED;
	else if (l->state == LEASE_HELD && !l->pausing.shut)
		begin(p, &ls, l, false, reply);
	else
		reply->kind = REPLY_BACK;
	return 0;
}

void
verb_exec(const struct peer *p, const struct request *r, struct reply *reply)
{
	const struct why nothing = { .code = WHY_NONE };
	autoclose int audit = audit_open(&reply->why);
	struct lease held = { .id = NULL };
	int ret = -1;

	if (audit != -1 && leave_cgroup(p->starter, &reply->why) == 0)
		ret = note_in_lease(p, r, &held, reply);
	if (ret != 0)
		reply->kind = ret == 1 ? REPLY_NOTED : reply->why.code == WHY_AGAIN ? REPLY_BUSY : REPLY_REFUSED;
	else if (reply->kind != REPLY_BACK)
		tell(audit, p, &held, &nothing, reply);
	lease_free(&held);
}

void
verb_back(const struct peer *p, const struct request *r, struct reply *reply)
{
	struct leases ls = LEASES_CLOSED;
	/* also reads the leases of containers that the peer says it has shut; only root can have done that */
	struct concern c = { .keys = p->asker.uid == 0 ? &r->shut : NULL };
	struct lease held = { .id = NULL };
	struct why without = { .code = WHY_NONE };
	bool back = false, again = false;
	char key[65];
	int audit;

	*reply = (struct reply){ .kind = REPLY_REFUSED };
	lease_key(p->asker.uid, r->runtime_root, r->id, key);
	c.key = key;
	if ((audit = audit_open(&reply->why)) != -1 && leave_cgroup(p->starter, &reply->why) == 0) {
		if (leases_open(&ls, p->asker.uid, &reply->why) == 0 &&
		    leases_look(&ls, &c, audit, &reply->why) == 0)
			back = look_at_lease(p, r, &ls, audit, &held, reply);
		else if (reply->why.code == WHY_AGAIN)
			reply->kind = REPLY_BUSY;
	}
	leases_close(&ls);
	if (back) {
		reply_free(reply);
		come_back(&(struct call){ p, r, audit }, reply, &without);
		again = reply->kind == REPLY_NOTED && without.code == WHY_NONE;
	}
	if (held.id != NULL && !again && reply->kind != REPLY_BUSY)
		tell(audit, p, &held, &without, reply);
	lease_free(&held);
	if (audit != -1)
		close(audit);
}
