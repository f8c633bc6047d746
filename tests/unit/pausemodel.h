/*
 * A model world: some containers whose first process pauses, each of which had the one exclusive
 * GPU, and actors that want the GPU. pure/pausing.c, pure/chore.c and pure/leasefile.c make all
 * decisions. The model follows the steps of helper/root/idle.c, exec.c, back.c, take.c and look.c,
 * and of helper/user/chores.c and lease.c. All that happens under the lock on the leases is one
 * step. A chore takes one step each for its lock, its look at the lease, its act, and its release
 * of the lock. Between two steps any actor may be killed or may stall, an engine may open a gate of
 * cgroup v1, and time passes.
 *
 * A state that must never occur is a fault (check_world(), and each call of fault()). Three states
 * should not occur, but the helper does not prevent them: they are counted (gap()), and are faults
 * only in a strict world.
 *
 * The model leaves out the queue, shared GPUs, several GPUs, and containers that are made again
 * under the same name.
 */
#ifndef GPUHELPER_TESTS_PAUSEMODEL_H
#define GPUHELPER_TESTS_PAUSEMODEL_H

#include <stdio.h>
#include <string.h>

#include "pure/chore.h"
#include "pure/leasefile.h"
#include "pure/pausing.h"
#include "rnd.h"

#define BOXES 3			/* containers */
#define ACTORS 9
#define TODO_MAX 8
#define SOON_MS_MAX 15000	/* as in user/lease.c */
#define ROUNDS_MAX 32		/* as in user/lease.c */
#define LOCK_MS 12000		/* as in user/chores.c */
#define TRACE 64

enum role {
	ASKER,		/* wants the GPU for a container of its own */
	EXEC,		/* starts a task in one of the containers */
	LOOKER,		/* root's timer, or another process that only looks */
};
enum phase {
	ASKS,		/* the next step is a request, under the leases' lock */
	READS,		/* EXEC: the same request goes on in back.c, and reads the lease */
	TAKES,		/* EXEC: it marks the GPU as coming back */
	COMES,		/* EXEC: it has let the lock go and got it again, and holds the GPU */
	CHORES,		/* it does the chores that the helper gave it, then asks again */
	LAST_CHORES,	/* EXEC: it does its chores, then becomes the runtime */
	STARTS,		/* EXEC: it is the runtime, and starts the process in the container */
	RUNS,		/* EXEC: the process runs in the container */
	HOLDS,		/* ASKER: its container has the GPU */
};

/* How far an actor is with a chore. */
enum chore_step {
	LOCKS,
	LOOKS,
	ACTS,
	LETS_GO,
};

struct todo {
	enum chore_kind kind;
	size_t box;
	struct process_id by;
};

struct actor {
	enum role role;
	enum phase phase;
	struct process_id id;
	bool there;			/* this slot is in use */
	/* its process is alive: the asker, the wrapper, then the runtime */
	bool lives;
	int64_t stalled_until;
	bool root;			/* may have chores */
	bool no_chores, failed_last;	/* a chore failed; a chore of LAST_CHORES failed */
	/* its policy allows it to wait; the helper tells it to wait now */
	bool may_wait, waits;
	/* since when it was told «soon» and not to wait; 0: it was not */
	int64_t soon_since;
	unsigned rounds;		/* rounds of chores */
	struct todo todo[TODO_MAX];
	size_t todos, done;
	enum chore_step at;
	int64_t lock_since;		/* since when it waits for a lock; 0: it does not */
	bool shut[BOXES];		/* what it reports as shut in its next request */
	/* EXEC */
	size_t box;
	bool was_used;			/* its copy of the lease */
	bool granted;			/* the helper's answer grants it the GPU */
	/* it has the GPU: the gate did not need opening, or was opened */
	bool has;
	bool stranger;			/* the engine started the process without gpuhelper */
	bool detaches;			/* the runtime does not wait for the process */
	bool main, main_node;		/* the process runs; it has the node open */
	/* processes that the first process left; how many of them have the node open */
	unsigned daemons, daemon_nodes;
};

struct box {
	enum lease_state state;
	struct pausing p;
	bool init;			/* its first process is alive */
	/* the first process does more than pause; it has the node open */
	bool runs, init_node;
	bool gone;			/* the container is gone, and its lease, too */
	bool dying;			/* the engine deletes it */
	bool open;			/* its gate is open */
	bool by_engine;			/* an engine opened the gate */
	/* a process opened the node through that gate while the lease was given back */
	bool through;
	bool reopened;			/* as lease.reopened: what the present request sees */
	bool seen_shut;			/* the present giver did its CHORE_SHUT */
	bool recorded;			/* the audit log has a record of who holds it */
	int64_t giver_since;		/* since when the present giver is at work */
	/* who has the lock for chores, as long as that process is alive */
	struct process_id lock;
};

/* How often each event came up. */
struct figures {
	unsigned long given_back, began, got, gave_up, came_back, undone, late, took, takeovers, dropped, skipped,
	    unlocked, opened, retaken;
	/* states that should not occur, and that the helper does not prevent: gap() */
	unsigned long without, through, ended;
};

struct world {
	struct box box[BOXES];
	size_t boxes;
	struct actor actor[ACTORS];
	bool v1;			/* root can see the gates */
	bool calm;			/* no actor is killed or stalls, and no new one begins */
	bool strict;
	unsigned pace;			/* how many steps fit into a given time */
	int64_t now;
	uint64_t pids;
	const char *fault;		/* a state that must not occur, if one did */
	struct figures n;
	struct {
		int64_t now;
		const char *what;
		size_t actor, box;
	} trace[TRACE];
	size_t traced;
};

static inline void
trace(struct world *w, const struct actor *a, const char *what, size_t box)
{
	const size_t at = w->traced++ % TRACE;

	w->trace[at].now = w->now;
	w->trace[at].what = what;
	w->trace[at].actor = a != NULL ? (size_t)(a - w->actor) : ACTORS;
	w->trace[at].box = box;
}

static inline void
fault(struct world *w, const char *what)
{
	if (w->fault == NULL)
		w->fault = what;
}

/*
 * Counts a state that should not occur and that the helper does not prevent; in a strict world it
 * is a fault.
 */
static inline void
gap(struct world *w, unsigned long *n, const char *what)
{
	++*n;
	if (w->strict)
		fault(w, what);
}

static inline bool
one_in(unsigned n)
{
	return rnd(n) == 0;
}

/* Whether something that can fail fails now. */
static inline bool
fails_now(const struct world *w, unsigned n)
{
	return !w->calm && one_in(n);
}

/* What can be seen of the processes. */

static inline const struct actor *
find_process(const struct world *w, struct process_id id)
{
	size_t i;

	for (i = 0; i < ACTORS; i++)
		if (w->actor[i].there && w->actor[i].lives && process_id_same(&w->actor[i].id, &id))
			return &w->actor[i];
	return NULL;
}

static inline bool
lives(const struct world *w, struct process_id id)
{
	return id.pid != 0 && find_process(w, id) != NULL;
}

static inline bool
is_in(const struct actor *a, size_t box)
{
	return a->there && a->role == EXEC && a->box == box;
}

/* host/container.c, container_see() */
static inline enum idleness
judge(const struct world *w, size_t box)
{
	const struct box *b = &w->box[box];
	struct sight s = { .pauses = b->init && !b->runs, .alone = true, .has_node = b->init_node };
	size_t i;

	for (i = 0; i < b->p.execs; i++)
		s.execs = s.execs || lives(w, b->p.exec[i]);
	for (i = 0; i < ACTORS; i++)
		if (is_in(&w->actor[i], box)) {
			s.alone = s.alone && !w->actor[i].main && w->actor[i].daemons == 0;
			s.task = s.task || w->actor[i].main;
		}
	return pausing_judge(&b->p, &s, w->now);
}

static inline bool
is_shut(const struct world *w, size_t box)
{
	return !w->v1 || !w->box[box].open;
}

/* Whether the giver is alive and still has time. */
static inline bool
is_in_time(const struct world *w, const struct box *b)
{
	return (b->state == LEASE_GIVING_BACK || b->state == LEASE_COMING_BACK) && lives(w, b->p.giver) &&
	    w->now - b->giver_since < GIVING_BACK_MS;
}

static inline bool
is_mine(const struct box *b, const struct actor *a)
{
	return b->p.giver.pid == a->id.pid && b->p.giver.start == a->id.start;
}

/*
 * Whether the actor is a task that has the GPU. It is one until both its exec and its process have
 * ended.
 */
static inline bool
is_task(const struct actor *a)
{
	return a->there && a->role == EXEC && a->has && (a->lives || a->main);
}

static inline size_t
tasks_in(const struct world *w, size_t box)
{
	size_t i, n = 0;

	for (i = 0; i < ACTORS; i++)
		n += is_in(&w->actor[i], box) && is_task(&w->actor[i]);
	return n;
}

/* The lease as pure/leasefile.c sees it. */
static inline struct lease
lease_of(const struct box *b)
{
	return (struct lease){ .state = b->state, .reopened = b->reopened, .pauses = true, .pausing = b->p };
}

/* How many hold the GPU, according to root/allot.c. */
static inline size_t
holders(const struct world *w)
{
	struct lease l;
	size_t i, n = 0;

	for (i = 0; i < w->boxes; i++) {
		l = lease_of(&w->box[i]);
		n += !w->box[i].gone && lease_holds(&l);
	}
	for (i = 0; i < ACTORS; i++)
		n += w->actor[i].there && w->actor[i].phase == HOLDS;
	return n;
}

static inline bool
has_node(const struct world *w, size_t box)
{
	bool has = w->box[box].init_node;
	size_t i;

	for (i = 0; i < ACTORS; i++)
		has = has || (is_in(&w->actor[i], box) && (w->actor[i].main_node || w->actor[i].daemon_nodes > 0));
	return has;
}

/* When an actor gets the GPU, no other one must be able to open it, as far as can be seen. */
static inline void
check_free(struct world *w, size_t taker)
{
	size_t i;

	for (i = 0; i < w->boxes; i++) {
		if (w->box[i].gone || i == taker)
			continue;
		if (w->box[i].state == LEASE_GIVEN_BACK && w->box[i].open)
			fault(w,
			    "an actor gets the GPU while an engine has opened another container's "
			    "gate");
		if (w->box[i].state == LEASE_GIVEN_BACK && has_node(w, i))
			gap(w, &w->n.through,
			    "an actor gets the GPU while a process that came through an engine's "
			    "gate has it open");
	}
}

static inline void
end_processes(struct world *w, size_t box, bool all)
{
	struct actor *a;
	size_t i;

	for (i = 0; i < ACTORS; i++) {
		a = &w->actor[i];
		if (!is_in(a, box))
			continue;
		a->main = a->main_node = false;
		a->daemons = a->daemon_nodes = 0;
		if (all && a->phase == RUNS)
			a->lives = false;
	}
}

/* root/idle.c */

static inline bool
may_have_chores(const struct actor *a)
{
	return a->root && !a->no_chores;
}

static inline void
add_chore(struct world *w, struct actor *a, enum chore_kind kind, size_t box, struct process_id by)
{
	if (a->todos == TODO_MAX) {
		fault(w, "the model has no room for a chore");
		return;
	}
	a->todo[a->todos++] = (struct todo){ kind, box, by };
}

static inline void
give_back(struct world *w, struct actor *a, size_t box)
{
	struct box *b = &w->box[box];

	/* the changes on the host cannot be undone now */
	if (fails_now(w, 100))
		return;
	b->p.left_since = 0;
	b->state = LEASE_GIVEN_BACK;
	trace(w, a, "gives back", box);
}

/* A lease ends only after its task: nothing of the task may be left. */
static inline void
check_end(struct world *w, size_t box)
{
	const struct box *b = &w->box[box];
	size_t i;

	for (i = 0; i < b->p.execs; i++)
		if (lives(w, b->p.exec[i]))
			fault(w, "a lease ends while a process is put into its container");
	for (i = 0; i < ACTORS; i++)
		if (is_in(&w->actor[i], box) && (w->actor[i].main || w->actor[i].daemons > 0))
			fault(w, "a lease ends while processes are in its container");
	if (b->runs || b->init_node)
		fault(w, "a lease ends while its container's first process does more than pause");
}

static inline void
look_again(struct world *w, struct actor *a, size_t box)
{
	w->box[box].reopened = !is_shut(w, box);
	if (w->box[box].reopened && may_have_chores(a))
		add_chore(w, a, CHORE_SHUT, box, (struct process_id){ 0 });
}

static inline void
finish(struct world *w, struct actor *a, bool wants)
{
	struct box *b;
	size_t i;

	for (i = 0; i < w->boxes; i++) {
		b = &w->box[i];
		if (b->gone)
			continue;
		if (may_have_chores(a) && a->shut[i] && turn_to_end(b->state, &b->p, judge(w, i), &a->id) &&
		    is_shut(w, i)) {
			check_end(w, i);
			if (w->v1 && b->open)
				fault(w, "a lease ends while its gate can be seen to be open");
			b->through = false;
			give_back(w, a, i);
			w->n.given_back += b->state == LEASE_GIVEN_BACK;
		}
		if (b->state == LEASE_GIVEN_BACK && wants)
			look_again(w, a, i);
	}
}

static inline void
drop_mark(struct world *w, struct actor *a, size_t box)
{
	struct box *b = &w->box[box];

	if (!is_mine(b, a) && is_in_time(w, b))
		fault(w, "an actor that is in time loses the mark");
	w->n.dropped++;
	trace(w, a, "drops the mark of", box);
	if (b->state == LEASE_GIVING_BACK)
		b->state = LEASE_HELD;
	else
		give_back(w, a, box);
}

static inline void
mark(struct world *w, struct actor *a, size_t box, enum idleness idleness)
{
	struct box *b = &w->box[box];
	const bool mine = b->state == LEASE_GIVING_BACK && is_mine(b, a);
	size_t i;

	if (!mine && is_in_time(w, b))
		fault(w, "an actor that is in time loses the turn");
	if (!b->p.used && w->now - b->p.created < 1000 * (int64_t)b->p.first_exec)
		fault(w, "a lease is marked before its first exec could come");
	if (idleness == IDLENESS_LEFT && (b->p.left_behind == LEFT_BEHIND_KEEP || b->p.left_since == 0 ||
	    w->now - b->p.left_since < 1000 * (int64_t)b->p.left_behind))
		fault(w, "the processes that a task left are ended before their time");
	for (i = 0; i < ACTORS; i++)
		if (is_in(&w->actor[i], box) && w->actor[i].granted && w->actor[i].lives)
			fault(w, "a lease is marked while an exec is under way");
	w->n.takeovers += b->state == LEASE_GIVING_BACK && !mine;
	if (!mine) {
		b->giver_since = w->now;
		b->p.giving_since = w->now;
	}
	b->p.giver = a->id;
	b->p.shut = true;
	b->state = LEASE_GIVING_BACK;
	b->seen_shut = false;
	add_chore(w, a, b->p.idle == IDLE_STOP ? CHORE_STOP : idleness == IDLENESS_LEFT ? CHORE_CLEAR : CHORE_SHUT,
	    box, a->id);
	trace(w, a, "marks", box);
}

static inline void
begin_one(struct world *w, struct actor *a, size_t box, bool *soon)
{
	struct box *b = &w->box[box];
	const enum idleness idleness = judge(w, box);
	const bool giver_lives = lives(w, b->p.giver), mine = process_id_same(&b->p.giver, &a->id);
	const bool marked = b->state == LEASE_GIVING_BACK || b->state == LEASE_COMING_BACK;

	b->p.left_since = idleness != IDLENESS_LEFT ? 0 : b->p.left_since != 0 ? b->p.left_since : w->now;
	if (may_have_chores(a) && turn_to_give_back(b->state, &b->p, idleness, &a->id, giver_lives, w->now)) {
		*soon = true;
		mark(w, a, box, idleness);
		return;
	}
	if (marked && (mine || turn_is_stale(&b->p, giver_lives, w->now))) {
		drop_mark(w, a, box);
		return;
	}
	*soon = *soon || marked;
}

static inline bool
begin(struct world *w, struct actor *a)
{
	bool soon = false;
	size_t i;

	for (i = 0; i < w->boxes; i++)
		if (!w->box[i].gone && w->box[i].state != LEASE_GIVEN_BACK && w->box[i].state != LEASE_DRAINING)
			begin_one(w, a, i, &soon);
	return soon;
}

/*
 * user/lease.c: the actor asks again after its chores. An actor that does not wait gives up after
 * some time.
 */
static inline void
bear(struct world *w, struct actor *a)
{
	a->phase = ASKS;
	if (a->todos > 0 && a->rounds++ < ROUNDS_MAX) {
		a->phase = CHORES;
		return;
	}
	a->no_chores = a->no_chores || a->todos > 0;
	a->todos = 0;
	if (a->waits)
		a->soon_since = 0;
	else if (a->soon_since == 0)
		a->soon_since = w->now;
	else if (w->now - a->soon_since >= SOON_MS_MAX) {
		a->there = false;
		w->n.gave_up += a->role == EXEC;
	}
}

/* root/take.c and root/look.c */

static inline void
ask_for_gpu(struct world *w, struct actor *a)
{
	bool soon;

	a->waits = a->may_wait;
	finish(w, a, true);
	if (holders(w) == 0) {
		check_free(w, BOXES);
		a->phase = HOLDS;
		w->n.took++;
		trace(w, a, "takes the GPU", BOXES);
		/* a grant is sent without the chores */
		a->todos = 0;
		return;
	}
	soon = begin(w, a);
	/*
	 * an actor that may not wait (any more) and has nothing to hope for is refused; the refusal
	 * is sent without the chores, too
	 */
	if (a->waits ? fails_now(w, 200) : !soon && a->todos == 0)
		a->there = false;
	else
		bear(w, a);
}

static inline void
look_around(struct world *w, struct actor *a)
{
	finish(w, a, true);
	(void)begin(w, a);
	a->phase = CHORES;
	if (a->todos == 0 || a->rounds++ == ROUNDS_MAX)
		a->there = false;
}

/* root/exec.c */

static inline void
note_exec(struct world *w, struct actor *a, bool open)
{
	struct box *b = &w->box[a->box];

	if (!pausing_add_exec(&b->p, a->id))
		fault(w, "an exec can't be noted");
	b->p.used = true;
	b->p.left_since = 0;
	b->state = LEASE_HELD;
	a->granted = true;
	a->has = !open;
	if (open)
		add_chore(w, a, CHORE_OPEN, a->box, a->id);
	a->phase = LAST_CHORES;
	w->n.began++;
	trace(w, a, open ? "begins, and is to open" : "begins in", a->box);
}

static inline void
exec_begins(struct world *w, struct actor *a, bool open)
{
	struct box *b = &w->box[a->box];
	size_t i, n = 0;

	if (b->state != LEASE_HELD && b->state != LEASE_GIVING_BACK)
		fault(w, "a lease that was given up is held again");
	if (is_in_time(w, b))
		fault(w, "an exec does not wait for an actor that is in time");
	for (i = 0; i < b->p.execs; i++)
		if (lives(w, b->p.exec[i]))
			b->p.exec[n++] = b->p.exec[i];
	b->p.execs = n;
	note_exec(w, a, open);
}

static inline void
ask_for_exec(struct world *w, struct actor *a)
{
	struct box *b = &w->box[a->box];

	a->waits = false;
	finish(w, a, false);
	if (b->gone) {
		a->there = false;
		return;
	}
	switch (turn_of_exec(b->state, &b->p, lives(w, b->p.giver), w->now)) {
	case EXEC_GOES_ON:
		if (b->state == LEASE_HELD)
			exec_begins(w, a, false);
		else
			a->phase = LAST_CHORES;
		if (b->state != LEASE_HELD && b->state != LEASE_DRAINING)
			fault(w, "an exec goes on although the lease is neither held nor given up");
		break;
	case EXEC_OPENS:
		exec_begins(w, a, true);
		break;
	case EXEC_WAITS:
		if (!is_in_time(w, b))
			fault(w, "an exec waits for an actor that is gone or late");
		bear(w, a);
		break;
	case EXEC_COMES_BACK:
		if (b->state != LEASE_GIVEN_BACK && b->state != LEASE_COMING_BACK)
			fault(w, "an exec makes a lease come back that was not given back");
		/* the reply so far is discarded */
		a->todos = 0;
		a->phase = READS;
		break;
	}
}

/* root/back.c */

static inline bool
may_come_back(const struct world *w, const struct box *b)
{
	return b->state == LEASE_GIVEN_BACK ||
	    (b->state == LEASE_COMING_BACK && turn_is_stale(&b->p, lives(w, b->p.giver), w->now));
}

/* Goes on without the GPU. In a container in which no task was started yet, the exec is refused. */
static inline void
do_without(struct world *w, struct actor *a)
{
	a->todos = 0;
	a->phase = LAST_CHORES;
	a->there = a->was_used;
	trace(w, a, a->was_used ? "begins without the GPU in" : "is refused in", a->box);
}

static inline void
read_lease(struct world *w, struct actor *a)
{
	struct box *b = &w->box[a->box];

	if (b->gone || !may_come_back(w, b)) {
		bear(w, a);
		return;
	}
	a->was_used = b->p.used;
	a->phase = TAKES;
	/* the policy does not give the GPU any more */
	if (fails_now(w, 60))
		do_without(w, a);
}

static inline void
take_again(struct world *w, struct actor *a)
{
	struct box *b = &w->box[a->box];
	const bool mid_way = b->state == LEASE_COMING_BACK;
	bool soon, others;

	if (b->gone || !may_come_back(w, b)) {
		bear(w, a);
		return;
	}
	if (is_in_time(w, b))
		fault(w, "an exec does not wait for another exec that is coming back");
	finish(w, a, true);
	if (holders(w) == 0) {
		check_free(w, a->box);
		/* the reply has another chore */
		a->todos = 0;
		b->state = LEASE_COMING_BACK;
		b->p.used = a->was_used;
		b->p.giver = a->id;
		b->p.giving_since = w->now;
		b->giver_since = w->now;
		b->recorded = false;
		a->phase = COMES;
		trace(w, a, "is coming back to", a->box);
		return;
	}
	others = holders(w) > (mid_way ? 1 : 0);
	soon = begin(w, a);
	/* only a task that has not begun is worth waiting for */
	a->waits = a->may_wait && !a->was_used;
	if (a->waits || soon || a->todos > 0) {
		bear(w, a);
		return;
	}
	if (!others && a->was_used)
		gap(w, &w->n.without,
		    "a task begins without the GPU although no other container has it");
	do_without(w, a);
}

/* The work between the two locks may fail. */
static inline void
hold(struct world *w, struct actor *a)
{
	struct box *b = &w->box[a->box];
	size_t i;

	if (b->gone || b->state != LEASE_COMING_BACK || !process_id_same(&b->p.giver, &a->id)) {
		w->n.late++;
		do_without(w, a);
		return;
	}
	if (fails_now(w, 30)) {
		b->state = LEASE_GIVEN_BACK;
		w->n.undone++;
		trace(w, a, "undoes its coming back to", a->box);
		do_without(w, a);
		return;
	}
	for (i = 0; i < b->p.execs; i++)
		if (lives(w, b->p.exec[i]))
			fault(w, "an exec that is alive is forgotten");
	b->p.execs = 0;
	b->recorded = true;
	w->n.came_back++;
	note_exec(w, a, true);
}

/* user/chores.c */

static inline void
do_shut(struct world *w, struct actor *a, const struct todo *t)
{
	struct box *b = &w->box[t->box];

	w->n.retaken += t->by.pid == 0;
	b->open = b->by_engine = false;
	b->seen_shut = b->seen_shut || (b->state == LEASE_GIVING_BACK && is_mine(b, a));
	trace(w, a, "shuts", t->box);
}

static inline void
do_open(struct world *w, struct actor *a, size_t box)
{
	w->box[box].open = true;
	w->box[box].by_engine = false;
	a->has = true;
	w->n.got++;
	trace(w, a, "opens", box);
}

/* CHORE_CLEAR and CHORE_STOP */
static inline void
do_kill(struct world *w, struct actor *a, size_t box, bool all)
{
	size_t i;

	trace(w, a, all ? "stops" : "clears", box);
	for (i = 0; i < ACTORS; i++) {
		if (!is_in(&w->actor[i], box))
			continue;
		if (is_task(&w->actor[i]) && (all || w->actor[i].main))
			fault(w, "a task is ended by CLEAR or STOP");
		if (w->actor[i].main && !w->actor[i].stranger && w->box[box].state != LEASE_DRAINING)
			gap(w, &w->n.ended, "a task that began without the GPU is ended by CLEAR or STOP");
	}
	end_processes(w, box, all);
	if (all)
		w->box[box].init = false;
}

static inline void
fail_chore(struct world *w, struct actor *a, const char *what)
{
	a->no_chores = true;
	a->failed_last = a->phase == LAST_CHORES;
	trace(w, a, what, a->todo[a->done].box);
}

static inline void
next_chore(struct actor *a)
{
	a->done++;
	a->at = LOCKS;
	a->lock_since = 0;
}

static inline void
lock_chore(struct world *w, struct actor *a, struct box *b)
{
	/* the lock was removed with the lease */
	if (b->gone) {
		fail_chore(w, a, "finds no lock of");
		next_chore(a);
	} else if (!lives(w, b->lock)) {
		b->lock = a->id;
		a->at = LOOKS;
	} else if (a->lock_since == 0) {
		a->lock_since = w->now;
	} else if (w->now - a->lock_since > LOCK_MS) {
		w->n.unlocked++;
		fail_chore(w, a, "does not get the lock of");
		next_chore(a);
	}
}

static inline void
look_at_chore(struct world *w, struct actor *a, const struct todo *t)
{
	const struct chore c = { .kind = t->kind, .by = t->by };
	const struct lease l = lease_of(&w->box[t->box]);

	a->at = ACTS;
	if (!w->box[t->box].gone && lease_wants(&l, &c))
		return;
	a->at = LETS_GO;
	w->n.skipped++;
	trace(w, a, "sees that its chore is void:", t->box);
	if (t->kind == CHORE_OPEN)
		fail_chore(w, a, "may not open");
}

static inline void
act(struct world *w, struct actor *a, struct todo *t)
{
	a->at = LETS_GO;
	if (fails_now(w, 100)) {
		fail_chore(w, a, "fails at");
		return;
	}
	switch (t->kind) {
	case CHORE_OPEN:
		do_open(w, a, t->box);
		return;
	case CHORE_CLEAR:
		/* clearing, and the shutting after it, are one step each */
		do_kill(w, a, t->box, false);
		t->kind = CHORE_SHUT;
		a->at = ACTS;
		return;
	case CHORE_STOP:
		do_kill(w, a, t->box, true);
		break;
	case CHORE_SHUT:
		do_shut(w, a, t);
		break;
	}
	a->shut[t->box] = true;
}

static inline void
do_chore(struct world *w, struct actor *a)
{
	struct todo *t = &a->todo[a->done];
	struct box *b = &w->box[t->box];

	switch (a->at) {
	case LOCKS:
		lock_chore(w, a, b);
		break;
	case LOOKS:
		look_at_chore(w, a, t);
		break;
	case ACTS:
		act(w, a, t);
		break;
	case LETS_GO:
		b->lock = (struct process_id){ 0 };
		next_chore(a);
		break;
	}
}

/* The steps of one actor. */

static inline void
go_on(struct world *w, struct actor *a)
{
	struct box *b = &w->box[a->box];

	switch (a->phase) {
	case CHORES:
		a->phase = ASKS;
		break;
	case LAST_CHORES:
		/* an exec whose chore failed does not start */
		a->phase = STARTS;
		if (a->failed_last)
			a->there = false;
		break;
	case STARTS:
		if (a->granted && !a->has)
			fault(w, "a task begins without the GPU that its exec was granted");
		a->phase = RUNS;
		a->main = b->init;
		a->lives = b->init;
		trace(w, a, "puts a process into", a->box);
		break;
	default:
		break;
	}
}

/* A process in the container opens the node if the gate is open. */
static inline bool
opens_node(struct box *b, unsigned seldom)
{
	if (!b->open || !one_in(seldom))
		return false;
	b->through = b->through || b->state == LEASE_GIVEN_BACK || b->state == LEASE_COMING_BACK;
	return true;
}

/* The task, and its runtime, which waits for it or does not. */
static inline void
run_task(struct world *w, struct actor *a)
{
	struct box *b = &w->box[a->box];

	if (a->main && !a->main_node)
		a->main_node = opens_node(b, 3);
	if (a->main && !w->calm && one_in(8) && a->daemons < 3) {
		a->daemons++;
		a->daemon_nodes += a->main_node;
	}
	if (a->main && (w->calm || one_in(5))) {
		a->main = a->main_node = false;
		trace(w, a, "its process ends in", a->box);
	}
	if (a->lives && (!a->main || (a->detaches && one_in(2))))
		a->lives = false;
	if (a->daemons > 0 && ((w->calm && b->p.left_behind == LEFT_BEHIND_KEEP) || one_in(40))) {
		a->daemon_nodes -= a->daemon_nodes == a->daemons;
		a->daemons--;
	}
	/* a process that the task left may open the node, too */
	if (a->daemons > a->daemon_nodes && opens_node(b, 4))
		a->daemon_nodes++;
	a->there = a->lives || a->main || a->daemons > 0;
}

/* Too many requests are made: the request does not get the lock on the leases. */
static inline void
turn_away(struct world *w, struct actor *a)
{
	a->todos = 0;
	trace(w, a, "does not get the leases' lock", BOXES);
	switch (a->phase) {
	case ASKS:
	case READS:
		a->waits = a->role == ASKER && a->may_wait;
		if (a->role == EXEC || a->waits)
			bear(w, a);
		else
			a->there = false;
		break;
	default:
		/* TAKES, COMES: the mark stays */
		do_without(w, a);
		break;
	}
}

static inline void
request(struct world *w, struct actor *a)
{
	size_t i;

	a->todos = a->done = 0;
	for (i = 0; i < w->boxes; i++)
		w->box[i].reopened = false;
	if (fails_now(w, 60))
		turn_away(w, a);
	else if (a->phase == READS)
		read_lease(w, a);
	else if (a->phase == TAKES)
		take_again(w, a);
	else if (a->phase == COMES)
		hold(w, a);
	else if (a->role == EXEC)
		ask_for_exec(w, a);
	else if (a->role == LOOKER)
		look_around(w, a);
	else
		ask_for_gpu(w, a);
	/* the report of shut gates is part of the whole request */
	if (a->phase != READS && a->phase != TAKES && a->phase != COMES)
		memset(a->shut, 0, sizeof(a->shut));
}

/* root/leaseend.c: the lease of a container that is gone ends at the next request. */
static inline void
reap(struct world *w)
{
	bool someone;
	size_t i, k;

	for (i = 0; i < w->boxes; i++) {
		for (someone = w->box[i].init, k = 0; k < ACTORS; k++)
			someone = someone || (is_in(&w->actor[k], i) && (w->actor[k].main || w->actor[k].daemons > 0));
		w->box[i].gone = w->box[i].gone || !someone;
	}
}

static inline void
step_actor(struct world *w, struct actor *a)
{
	if (!a->there || (a->lives && a->stalled_until > w->now))
		return;
	if (a->phase == HOLDS) {
		/* the container that got the GPU lives longer than its maker, or does not */
		if (w->calm || one_in(5)) {
			a->there = false;
			trace(w, a, "gives up its GPU", BOXES);
		}
		return;
	}
	if (a->phase == RUNS) {
		run_task(w, a);
		return;
	}
	if (a->phase == ASKS || a->phase == READS || a->phase == TAKES || a->phase == COMES) {
		reap(w);
		request(w, a);
	} else if (a->done < a->todos)
		do_chore(w, a);
	else
		go_on(w, a);
}

/* Events from outside. */

static inline struct actor *
spawn(struct world *w, enum role role)
{
	struct actor *a;
	size_t i;

	for (i = 0; i < ACTORS && w->actor[i].there; i++)
		;
	if (i == ACTORS)
		return NULL;
	a = &w->actor[i];
	*a = (struct actor){ .role = role, .there = true, .lives = true, .root = role != ASKER || !one_in(8),
		.may_wait = !one_in(4), .detaches = one_in(2), .box = (size_t)rnd(w->boxes),
		.no_chores = role == LOOKER && one_in(3), .rounds = one_in(20) ? ROUNDS_MAX - 2 : 0 };
	if (w->calm) {
		a->root = a->may_wait = true;
		a->rounds = 0;
	}
	a->id = (struct process_id){ (pid_t)(100 + w->pids % 5), w->pids };
	w->pids++;
	return a;
}

/* Kills a process. If it is a task's runtime, the task's own process stays. */
static inline void
kill_one(struct world *w)
{
	struct actor *a = &w->actor[rnd(ACTORS)];

	if (!a->there || !a->lives)
		return;
	trace(w, a, "is killed", BOXES);
	a->lives = false;
	if (a->phase != RUNS && a->phase != HOLDS)
		a->there = false;
}

/* Stalls an actor, preferably one that has something to do. */
static inline void
stall_one(struct world *w)
{
	struct actor *a = &w->actor[rnd(ACTORS)];
	unsigned tries;

	for (tries = 0; tries < 6 && (!a->there || (a->done == a->todos && a->phase != COMES)); tries++)
		a = &w->actor[rnd(ACTORS)];
	if (a->there && a->lives && a->phase != RUNS && a->phase != HOLDS)
		a->stalled_until = w->now + (int64_t)rnd(one_in(2) ? 40000 : 3000);
}

/* The engine starts a process without gpuhelper, or the first process does something. */
static inline void
let_strangers_in(struct world *w)
{
	struct box *b = &w->box[rnd(w->boxes)];
	struct actor *a;

	if (b->gone || !b->init)
		return;
	if (one_in(4)) {
		b->runs = one_in(3);
		b->init_node = opens_node(b, 2);
	} else if ((a = spawn(w, EXEC)) != NULL) {
		a->box = (size_t)(b - w->box);
		a->phase = RUNS;
		a->main = a->stranger = true;
		a->lives = false;
		trace(w, a, "is a stranger in", a->box);
	}
}

/* First VERB_RELEASE, then the end of the container's processes. */
static inline void
delete_one(struct world *w)
{
	struct box *b = &w->box[rnd(w->boxes)];

	if (b->gone)
		return;
	if (b->dying) {
		end_processes(w, (size_t)(b - w->box), true);
		b->init = b->init_node = false;
		return;
	}
	b->dying = true;
	if (b->state != LEASE_GIVEN_BACK)
		b->state = LEASE_DRAINING;
	trace(w, NULL, "is deleted:", (size_t)(b - w->box));
}

/* The engine writes its old rules again, as «update» does. */
static inline void
let_engine_open(struct world *w)
{
	struct box *b = &w->box[rnd(w->boxes)];

	if (!w->v1 || b->gone || b->open)
		return;
	b->open = b->by_engine = true;
	w->n.opened += b->state == LEASE_GIVEN_BACK;
	trace(w, NULL, "is opened by the engine:", (size_t)(b - w->box));
}

/* What must hold after each step. */

static inline void
check_task(struct world *w, const struct actor *a)
{
	const struct box *b = &w->box[a->box];

	if (b->gone || b->state == LEASE_DRAINING)
		return;
	if (b->state != LEASE_HELD)
		fault(w, b->state == LEASE_GIVING_BACK ? "a lease is marked while a task has it" :
		    "a lease ended before its task");
	if (!b->open)
		fault(w, "a task has no access");
}

static inline void
check_box(struct world *w, size_t box)
{
	const struct box *b = &w->box[box];

	if (b->gone)
		return;
	if (b->state == LEASE_HELD && !b->recorded)
		fault(w, "a held GPU has no record");
	if (b->open && !b->by_engine) {
		if (b->state == LEASE_GIVEN_BACK)
			fault(w, "the gate of a lease that was given back is open");
		if (b->state == LEASE_GIVING_BACK && b->seen_shut)
			fault(w, "the gate is open although its giver shut it");
	}
	/*
	 * a node that was opened through an engine's gate stays open when the gate is shut: the
	 * helper does not look for it
	 */
	if (b->state == LEASE_GIVEN_BACK && !b->through && has_node(w, box))
		fault(w, "a process has the node open although its lease was given back");
}

static inline void
check_world(struct world *w)
{
	size_t i, n = 0;

	for (i = 0; i < w->boxes; i++) {
		check_box(w, i);
		n += !w->box[i].gone && w->box[i].state != LEASE_GIVEN_BACK;
	}
	for (i = 0; i < ACTORS; i++) {
		n += w->actor[i].there && w->actor[i].phase == HOLDS;
		if (is_task(&w->actor[i]))
			check_task(w, &w->actor[i]);
	}
	if (n > 1)
		fault(w, "two containers have the GPU");
}

/* Steps are short while an actor has something to do, and long while all only wait. */
static inline uint64_t
calm_ms(const struct world *w)
{
	size_t i;

	for (i = 0; i < ACTORS; i++)
		if (w->actor[i].there && w->actor[i].done < w->actor[i].todos)
			return 20;
	return 400;
}

static inline void
step(struct world *w)
{
	if (!w->calm) {
		if (one_in(5))
			(void)spawn(w, one_in(2) ? EXEC : one_in(4) ? LOOKER : ASKER);
		if (one_in(40))
			kill_one(w);
		if (one_in(12))
			stall_one(w);
		if (one_in(80))
			let_strangers_in(w);
		if (one_in(1000))
			delete_one(w);
		if (one_in(200))
			let_engine_open(w);
	}
	w->now += (int64_t)rnd(w->calm ? calm_ms(w) : one_in(60 * w->pace) ? 15000 :
	    one_in(8 * w->pace) ? 2000 : 40);
	step_actor(w, &w->actor[rnd(ACTORS)]);
	check_world(w);
}

static inline void
world_init(struct world *w, bool strict)
{
	static const uint32_t behind[] = { 0, 5, 60, LEFT_BEHIND_KEEP };
	size_t i;

	*w = (struct world){ .boxes = 2 + (size_t)rnd(2), .v1 = one_in(2), .now = 1000000, .pids = 1,
		.pace = 1 + (unsigned)rnd(5), .strict = strict };
	/* each container had the GPU once, and the first one has it now */
	for (i = 0; i < w->boxes; i++) {
		w->box[i] = (struct box){ .state = i == 0 ? LEASE_HELD : LEASE_GIVEN_BACK, .init = true, .open = i == 0,
			.recorded = i == 0 };
		w->box[i].p = (struct pausing){ .idle = one_in(8) ? IDLE_STOP : IDLE_GIVE_BACK, .first_exec = one_in(2) ? 1 : 30,
			.left_behind = behind[rnd(4)], .created = w->now - (int64_t)rnd(2000), .used = i > 0 && !one_in(4),
			.shut = i > 0 };
	}
}

static inline void
world_free(struct world *w)
{
	size_t i;

	for (i = 0; i < w->boxes; i++)
		pausing_free(&w->box[i].p);
}

#define CALM_STEPS 3000

/*
 * From now on no actor is killed or stalls, and tasks end. One more actor asks, which may wait and
 * do chores. Returns the number of steps until it has the GPU, or CALM_STEPS if it does not get it.
 */
static inline unsigned
world_settle(struct world *w)
{
	struct actor *a;
	unsigned n;
	size_t i;

	w->calm = true;
	for (i = 0; i < ACTORS; i++)
		w->actor[i].stalled_until = 0;
	for (i = 0; i < w->boxes; i++)
		if (w->box[i].dying) {
			end_processes(w, i, true);
			w->box[i].init = w->box[i].init_node = false;
		} else
			w->box[i].runs = w->box[i].init_node = false;
	/* it takes another actor's place if none is free; the actor in that place holds nothing */
	for (i = 0; i < ACTORS - 1 && w->actor[i].there && (w->actor[i].phase == RUNS || w->actor[i].phase == HOLDS); i++)
		;
	w->actor[i].there = w->actor[i].lives = false;
	a = spawn(w, ASKER);
	for (n = 0; n < CALM_STEPS && a != NULL && a->phase != HOLDS && w->fault == NULL; n++)
		step(w);
	return n;
}

#endif
