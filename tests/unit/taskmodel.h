/*
 * A model world: some containers that were promised the one exclusive GPU, tasks in them with their agents, hijacks, and
 * root's timer. lease/leasetasks.c, leasefile.c and leasewants.c make all decisions. The model follows the steps of
 * helper/root/verb/task.c, taskover.c, leaseverbs.c and ../end/idle.c, and of helper/user/task/taskgpus.c and callerops.c. All that happens under the lock
 * on the leases is one step. An operation takes one step each for its lock, its reading of the lease, its change, and its release of
 * the lock. Between two steps anything may be killed or may stall, processes begin and end and open the node, on cgroup v1
 * an engine may write a container's first device rules again, and time passes.
 *
 * A state that must never occur is a fault (check_world()). What an engine's rules let a container do is none of gpuhelper's,
 * except that no task may begin while they are seen. The model leaves out the order of the queue, shared GPUs and several
 * GPUs.
 */
#ifndef GPUHELPER_TESTS_TASKMODEL_H
#define GPUHELPER_TESTS_TASKMODEL_H

#include <stdio.h>
#include <string.h>

#include "base/times.h"
#include "lease/callerop.h"
#include "lease/leasefile.h"
#include "lease/leasetasks.h"
#include "lease/leasewants.h"
#include "rnd.h"

#define BOXES 3
#define PROCS 24
#define AGENTS 8		/* the last one is root's timer */
#define TIMER (AGENTS - 1)
#define TODO_MAX 4
#define CALM_STEPS 500		/* after so many in which all is given back, nothing changes any more */

enum kind { WAITS, RUNS, HIJACKS, LEFT };	/* a waiter; a task; another exec; a process that these left behind */

struct proc {
	enum kind kind;
	struct process_id id;
	size_t box;
	bool lives, has_node;
};

struct box {
	struct lease l;
	struct promised_node node;
	struct leased_gpu gpu, may;
	bool devcgroup;		/* its processes can open the node */
	bool by_engine;		/* because an engine said so */
	bool through;		/* a process opened the node because of that */
	struct process_id lock;	/* who has the lock for operations, while that process lives */
};

enum phase { ASKS, LOOKS_ALONE, HOLDS, OPS, GOES, WATCHES, ENDS };

struct agent {
	enum phase phase, then;	/* «then»: after the operations */
	struct process_id id, waiter;
	bool lives;
	int64_t stalled_until;
	size_t box, proc;
	struct { enum op_kind kind; size_t box; bool by, allowed; } todo[TODO_MAX];
	size_t todos, done;
	unsigned at;		/* the step of an operation */
	bool wanted, no_ops;
	bool closed[BOXES];	/* what it says it has closed */
};

struct world {
	struct box box[BOXES];
	struct proc proc[PROCS];
	struct agent agent[AGENTS];
	int64_t now;
	pid_t pid;
	uint64_t start;
	bool v1;
	const char *fault;
	unsigned long went, gave, refused, killed, stale, seen;
};

static bool
lives(const struct world *w, struct process_id id)
{
	size_t i;

	for (i = 0; i < PROCS; i++)
		if (w->proc[i].lives && process_id_same(&w->proc[i].id, &id))
			return true;
	for (i = 0; i < AGENTS; i++)
		if (w->agent[i].lives && process_id_same(&w->agent[i].id, &id))
			return true;
	return false;
}

/* Numbers are used again soon. */
static struct process_id
new_id(struct world *w)
{
	w->pid = w->pid % 40 + 2;
	return (struct process_id){ w->pid, ++w->start };
}

/* helper/root */

static struct activity
see_box(const struct world *w, size_t b)
{
	struct activity s = { .placeholder = true, .alone = true };
	size_t i;

	for (i = 0; i < PROCS; i++) {
		if (!w->proc[i].lives || w->proc[i].box != b)
			continue;
		s.alone = false;
		s.task = s.task || w->proc[i].kind != LEFT;
	}
	s.task = s.task || (w->box[b].l.tasks.task.pid != 0 && lives(w, w->box[b].l.tasks.task));
	return s;
}

static enum idleness
judge(const struct world *w, size_t b)
{
	const struct activity s = see_box(w, b);

	return activity_classify(&s);
}

static bool
is_closed(const struct world *w, size_t b)
{
	return !w->v1 || !w->box[b].devcgroup;
}

static void
promise(struct world *w, size_t b)
{
	struct lease *l = &w->box[b].l;

	l->gpus = 0;
	lease_tasks_allow(&l->tasks, NULL, 0);
	l->tasks.task = l->tasks.changer = (struct process_id){ 0 };
	l->tasks.left_since = 0;
	l->state = LEASE_PROMISED;
}

static void
add_todo(struct agent *a, enum op_kind kind, size_t b, bool by, bool open)
{
	if (a->todos < TODO_MAX) {
		a->todo[a->todos].kind = kind;
		a->todo[a->todos].box = b;
		a->todo[a->todos].by = by;
		a->todo[a->todos++].allowed = open;
	}
}

/* idle_finish() */
static void
finish(struct world *w, struct agent *a, size_t only)
{
	struct lease *l;
	size_t b;

	for (b = 0; b < BOXES; b++) {
		l = &w->box[b].l;
		if (only < BOXES && b != only)
			continue;
		if (a->closed[b] && may_end_revoking(l->state, &l->tasks, judge(w, b), &a->id) && is_closed(w, b)) {
			promise(w, b);
			w->gave++;
		}
		l->scan.has_access = lease_only_promises(l) ? !is_closed(w, b) : w->v1 && w->box[b].devcgroup &&
		    !l->tasks.node[0].allowed;
		w->seen += l->scan.has_access;
		if (l->scan.has_access && !a->no_ops && (lease_only_promises(l) || l->state == LEASE_HELD))
			add_todo(a, lease_only_promises(l) ? OP_DENY : OP_ALLOW, b, false, l->tasks.node[0].allowed);
	}
	memset(a->closed, 0, sizeof(a->closed));
}

/* idle_begin() */
static void
begin(struct world *w, struct agent *a, size_t only)
{
	struct lease *l;
	enum idleness i;
	bool changer;
	size_t b;

	for (b = 0; b < BOXES; b++) {
		l = &w->box[b].l;
		if (lease_only_promises(l) || (only < BOXES && b != only))
			continue;
		i = judge(w, b);
		changer = lives(w, l->tasks.changer);
		l->tasks.left_since = i != IDLENESS_LEFT ? 0 : l->tasks.left_since != 0 ? l->tasks.left_since : w->now;
		if (!a->no_ops && may_revoke(l->state, &l->tasks, i, &a->id, changer, w->now)) {
			if (l->state != LEASE_REVOKING || !process_id_same(&l->tasks.changer, &a->id))
				l->tasks.changing_since = w->now;
			l->tasks.changer = a->id;
			l->state = LEASE_REVOKING;
			add_todo(a, i == IDLENESS_LEFT ? OP_CLEAR : OP_DENY, b, true, false);
		} else if ((l->state == LEASE_REVOKING || l->state == LEASE_ACQUIRING) &&
		    (process_id_same(&l->tasks.changer, &a->id) || changer_is_stale(&l->tasks, changer, w->now))) {
			w->stale++;
			if (l->state == LEASE_REVOKING)
				l->state = LEASE_HELD;
			else
				promise(w, b);
		}
	}
}

static bool
is_free(const struct world *w, size_t besides)
{
	size_t b;

	for (b = 0; b < BOXES; b++)
		if (b != besides && lease_holding(&w->box[b].l).gpus > 0)
			return false;
	return true;
}

static void
do_ops_then(struct agent *a, enum phase then)
{
	a->then = then;
	a->phase = a->todos > 0 ? OPS : then;
	a->done = a->at = 0;
}

/* verb_task(), first lock */
static void
ask_task(struct world *w, struct agent *a)
{
	struct lease *l = &w->box[a->box].l;
	const struct devnum open = { 195, 0 };

	a->todos = 0;
	switch (task_next_of(l->state, &l->tasks, lives(w, l->tasks.changer), w->now)) {
	case TASK_JOINS:
		add_todo(a, OP_ALLOW, a->box, false, l->tasks.node[0].allowed);
		do_ops_then(a, GOES);
		return;
	case TASK_WAITS:
	case TASK_FAILS:
		return;
	case TASK_ACQUIRES:
		break;
	}
	finish(w, a, BOXES);
	if (!lives(w, a->waiter))
		return;
	if (!is_free(w, a->box) || l->scan.has_access) {
		begin(w, a, BOXES);
		do_ops_then(a, ASKS);
		return;
	}
	a->todos = 0;
	l->state = LEASE_ACQUIRING;
	l->gpu = &w->box[a->box].gpu;
	l->gpus = 1;
	l->tasks.task = a->waiter;
	l->tasks.changer = a->id;
	l->tasks.changing_since = w->now;
	lease_tasks_allow(&l->tasks, &open, 1);
	a->phase = LOOKS_ALONE;
}

/* check_exclusive(), without the lock; and hold_or_undo(), with it */
static void
hold(struct world *w, struct agent *a)
{
	struct lease *l = &w->box[a->box].l;
	bool alone = true;
	size_t i;

	if (a->phase == LOOKS_ALONE) {
		for (i = 0; i < PROCS; i++)
			alone = alone && !(w->proc[i].lives && w->proc[i].has_node && w->proc[i].box != a->box);
		a->wanted = alone;
		a->phase = HOLDS;
		return;
	}
	a->phase = ASKS;
	if (l->state != LEASE_ACQUIRING || !process_id_same(&l->tasks.changer, &a->id))
		return;
	if (!a->wanted) {
		w->refused++;
		promise(w, a->box);
		return;
	}
	l->state = LEASE_HELD;
	a->todos = 0;
	add_todo(a, OP_ALLOW, a->box, false, true);
	do_ops_then(a, GOES);
}

/* verb_over(), and verb_reap() of the timer */
static void
ask_over(struct world *w, struct agent *a, size_t only)
{
	a->todos = 0;
	finish(w, a, only);
	begin(w, a, only);
	do_ops_then(a, a->phase);
}

/* helper/user */

static void
end_op(struct agent *a, bool did, size_t b)
{
	a->closed[b] = a->closed[b] || (did && a->todo[a->done].kind != OP_ALLOW);
	a->no_ops = false;
	a->done++;
	a->at = 0;
	if (a->done == a->todos) {
		a->todos = 0;
		a->phase = a->then;
	}
}

static void
do_change(struct world *w, size_t b, enum op_kind kind, bool open)
{
	struct box *x = &w->box[b];
	size_t i;

	for (i = 0; kind == OP_CLEAR && i < PROCS; i++)
		if (w->proc[i].box == b)
			w->proc[i].lives = false;
	x->devcgroup = kind == OP_ALLOW && open;
	x->by_engine = false;
}

static void
step_op(struct world *w, struct agent *a)
{
	const size_t b = a->todo[a->done].box;
	struct box *x = &w->box[b];
	struct promised_node node = { 195, 0, a->todo[a->done].allowed };
	static char devcgroup[] = "devices/c";
	const struct caller_op c = { .kind = a->todo[a->done].kind, .node = &node, .nodes = 1, .devcgroup = devcgroup, .init = x->l.container.init,
		.by = a->todo[a->done].by ? a->id : (struct process_id){ 0 } };

	switch (a->at++) {
	case 0:
		if (x->lock.pid != 0 && lives(w, x->lock)) {
			a->at = 0;
			return;
		}
		x->lock = a->id;
		return;
	case 1:
		x->l.tasks.devcgroup = devcgroup;
		a->wanted = lease_wants(&x->l, &c);
		x->l.tasks.devcgroup = NULL;
		return;
	case 2:
		if (a->wanted)
			do_change(w, b, c.kind, node.allowed);
		return;
	default:
		x->lock = (struct process_id){ 0 };
		/* a task whose node could not be opened asks again */
		if (c.kind == OP_ALLOW && !a->wanted && a->then == GOES)
			a->then = ASKS;
		end_op(a, a->wanted, b);
		return;
	}
}

static void
step_agent(struct world *w, struct agent *a)
{
	struct proc *p = &w->proc[a->proc];
	const bool over = !p->lives || !process_id_same(&p->id, &a->waiter);

	switch (a->phase) {
	case ASKS:
		if (over)
			a->phase = ENDS;
		else
			ask_task(w, a);
		break;
	case LOOKS_ALONE:
	case HOLDS:
		hold(w, a);
		break;
	case OPS:
		step_op(w, a);
		break;
	case GOES:
		/* «go», which comes only after the container's access is open */
		if (!over) {
			p->kind = RUNS;
			w->went++;
			if (w->box[a->box].l.state == LEASE_HELD && !w->box[a->box].devcgroup && w->box[a->box].l.tasks.node[0].allowed &&
			    process_id_same(&w->box[a->box].l.tasks.task, &p->id))
				w->fault = "a task goes on without its GPU";
		}
		a->phase = WATCHES;
		break;
	case WATCHES:
		a->phase = over ? ENDS : WATCHES;
		break;
	case ENDS:
		ask_over(w, a, a->box);
		if (a->phase == ENDS && a->todos == 0 && lease_only_promises(&w->box[a->box].l))
			a->lives = false;
		break;
	}
}

static void
step_timer(struct world *w, struct agent *a)
{
	if (a->phase == OPS)
		step_op(w, a);
	else
		ask_over(w, a, BOXES);
}

/* Everybody else. */

static struct proc *
new_proc(struct world *w, size_t b, enum kind kind)
{
	size_t i;

	for (i = 0; i < PROCS; i++)
		if (!w->proc[i].lives) {
			w->proc[i] = (struct proc){ kind, new_id(w), b, true, false };
			return &w->proc[i];
		}
	return NULL;
}

static void
start_task(struct world *w)
{
	const size_t b = rnd(BOXES);
	struct proc *p;
	size_t i;

	for (i = 0; i < TIMER && w->agent[i].lives; i++)
		;
	if (i == TIMER || (p = new_proc(w, b, WAITS)) == NULL)
		return;
	w->agent[i] = (struct agent){ .phase = ASKS, .id = new_id(w), .lives = true, .box = b,
		.proc = (size_t)(p - w->proc), .waiter = p->id };
}

static void
live_on(struct world *w, struct proc *p)
{
	struct box *x = &w->box[p->box];

	switch (rnd(6)) {
	case 0:
		if (p->kind != WAITS)
			p->lives = false;
		break;
	case 1:
	case 2:
		if (p->kind != WAITS && x->devcgroup) {
			p->has_node = true;
			x->through = x->through || x->by_engine;
		}
		break;
	case 3:
		if (p->kind != WAITS && rnd(3) == 0)
			(void)new_proc(w, p->box, LEFT);
		break;
	default:
		p->has_node = p->has_node && rnd(2) == 0;
		break;
	}
}

/* A waiter without its agent ends: the socket is closed. */
static void
end_waiters(struct world *w)
{
	size_t i, k;

	for (i = 0; i < PROCS; i++) {
		if (!w->proc[i].lives || w->proc[i].kind != WAITS)
			continue;
		for (k = 0; k < TIMER; k++)
			if (w->agent[k].lives && process_id_same(&w->agent[k].waiter, &w->proc[i].id))
				break;
		w->proc[i].lives = k < TIMER;
	}
}

static void
disturb(struct world *w)
{
	struct agent *a = &w->agent[rnd(AGENTS)];
	struct proc *p = &w->proc[rnd(PROCS)];
	struct box *x = &w->box[rnd(BOXES)];

	switch (rnd(8)) {
	case 0:
		w->killed += a->lives;
		a->lives = false;
		break;
	case 1:
		a->stalled_until = w->now + (int64_t)rnd(2 * REVOKING_MS);
		break;
	case 2:
	case 3:
		w->killed += p->lives;
		p->lives = false;
		break;
	case 4:
		(void)new_proc(w, (size_t)(x - w->box), HIJACKS);
		break;
	case 5:
		if (w->v1 && rnd(4) == 0) {
			x->by_engine = x->by_engine || !x->devcgroup;
			x->devcgroup = true;
		}
		break;
	default:
		start_task(w);
		break;
	}
	/* the timer is started again every minute */
	if (!w->agent[TIMER].lives)
		w->agent[TIMER] = (struct agent){ .phase = WATCHES, .id = new_id(w), .lives = true };
}

static void
check_world(struct world *w)
{
	unsigned open = 0, holders = 0;
	const struct box *x;
	size_t b, i;

	for (b = 0; b < BOXES; b++) {
		x = &w->box[b];
		holders += x->l.gpus > 0;
		open += x->devcgroup && !x->by_engine;
		if (x->devcgroup && !x->by_engine && (x->l.state == LEASE_PROMISED || x->l.state == LEASE_ACQUIRING))
			w->fault = "a container that was only promised a GPU can open it";
		if ((x->l.state == LEASE_PROMISED) != (x->l.gpus == 0))
			w->fault = "a promise holds a GPU, or another lease holds none";
		for (i = 0; i < PROCS; i++)
			if (w->proc[i].lives && w->proc[i].has_node && w->proc[i].box == b && x->l.state == LEASE_PROMISED && !x->through)
				w->fault = "a container that was only promised a GPU has it open";
	}
	if (holders > 1)
		w->fault = "two leases hold the GPU";
	if (open > 1)
		w->fault = "two containers can open the GPU";
}

static void
step(struct world *w, bool calm)
{
	struct agent *a = &w->agent[rnd(AGENTS)];
	struct proc *p = &w->proc[rnd(PROCS)];

	w->now += (int64_t)rnd(200);
	if (!calm && rnd(12) == 0)
		disturb(w);
	end_waiters(w);
	if (p->lives)
		live_on(w, p);
	if (a->lives && a->stalled_until <= w->now) {
		if (a == &w->agent[TIMER])
			step_timer(w, a);
		else
			step_agent(w, a);
	}
	check_world(w);
}

static bool
is_given_back(const struct world *w)
{
	size_t i;

	for (i = 0; i < TIMER && !w->agent[i].lives; i++)
		;
	return i == TIMER && w->box[0].l.gpus + w->box[1].l.gpus + w->box[2].l.gpus == 0;
}

/* Lives through a world. NULL, or what went wrong. */
static const char *
live_world(struct world *w, uint64_t of, unsigned steps)
{
	unsigned i, b, calm = 0;

	seed = of;
	*w = (struct world){ .now = 1000, .v1 = rnd(2) == 0 };
	for (b = 0; b < BOXES; b++) {
		w->box[b].node = (struct promised_node){ 195, 0, false };
		w->box[b].gpu = w->box[b].may = (struct leased_gpu){ .pci = "0000:3b:00.0", .exclusive = true };
		w->box[b].l = (struct lease){ .state = LEASE_PROMISED, .gpus_by_task = true,
			.tasks = { .node = &w->box[b].node, .nodes = 1, .promised_gpu = &w->box[b].may,
				.promised_gpus = 1, .left_behind = rnd(3) == 0 ? LEFT_BEHIND_KEEP : 1 } };
	}
	for (i = 0; i < steps && w->fault == NULL; i++)
		step(w, false);
	if (w->fault != NULL)
		return w->fault;
	/* then nothing happens any more but what must: in the end all is given back */
	for (b = 0; b < BOXES; b++)
		w->box[b].l.tasks.left_behind = 1;
	for (i = 0; i < 30000 && w->fault == NULL && calm < CALM_STEPS; i++) {
		step(w, true);
		calm = is_given_back(w) ? calm + 1 : 0;
		if (!w->agent[TIMER].lives)
			w->agent[TIMER] = (struct agent){ .phase = WATCHES, .id = new_id(w), .lives = true };
	}
	for (i = 0; i < AGENTS - 1 && w->fault == NULL; i++)
		if (w->agent[i].lives)
			return "an agent never ends";
	return w->fault != NULL ? w->fault : w->box[0].l.gpus + w->box[1].l.gpus + w->box[2].l.gpus == 0 ? NULL :
	    "a GPU is never given back";
}

#endif
