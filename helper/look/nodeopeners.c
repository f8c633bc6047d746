/*
 * See nodeopeners.h. Looks at /proc only, and may take long: must never be called by a process that holds a lock.
 */
#include "nodeopeners.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../base/cleanup.h"
#include "../base/times.h"
#include "../host/clock.h"
#include "../host/file.h"
#include "../host/process/hostprocess.h"
#include "../host/process/opennode.h"
#include "../host/process/procdir.h"
#include "copies.h"
#include "walk.h"

struct opener_search {
	struct host_process host;
	pid_t *opener;
	volatile pid_t *at;
	struct node_search nodes;
};

/* False if the process can't be seen. */
static bool
look_for_nodes(struct opener_search *s, const char *pid)
{
	size_t i;

	*s->at = (pid_t)strtol(pid, NULL, 10);
	switch (process_in_container(&s->host, s->nodes.proc, pid, NULL)) {
	case 0:
		return true;
	case -1:
		return false;
	}
	memset(s->nodes.held, 0, s->nodes.nodes * sizeof(*s->nodes.held));
	s->nodes.in_flight = false;
	if (!process_find_held(&s->nodes, pid))
		return false;
	for (i = 0; i < s->nodes.nodes; i++)
		if (s->nodes.held[i])
			s->opener[i] = *s->at;
		else if (s->nodes.in_flight && s->opener[i] == 0)
			s->opener[i] = -*s->at;
	return true;
}

/* Why the last walk may have missed an opener; 0: no doubt. */
struct incomplete {
	pid_t unsteady;		/* its threads or descriptors changed all the time, as those of an ending process do */
	pid_t slow;		/* it kept the walk waiting */
	bool full;		/* the walk waited because processes began faster than it looked at them */
};

/* Looks at the processes of this round, or of all rounds. False if time is up. */
static bool
look_on(struct opener_search *s, struct walk *w, bool all_rounds, pid_t *unsteady)
{
	char pid[16];

	while ((all_rounds || walk_left(w) > 0) && walk_next(w, pid)) {
		if (look_for_nodes(s, pid))
			continue;
		if (clock_ms() > s->nodes.budget.until)
			return false;
		*unsteady = *s->at;
	}
	walk_note_wait(w);
	return !w->failed;
}

static _Noreturn void
look_as_copy(struct opener_search *s, struct walk *w, size_t processes, struct copy_part *part)
{
	bool seen;

	memset(s->opener, 0, s->nodes.nodes * sizeof(*s->opener));
	s->at = &part->at;
	walk_take_share(w, processes);
	seen = look_on(s, w, false, &part->unsteady);
	part->slow = w->kept_waiting;
	memcpy(part->opener, s->opener, s->nodes.nodes * sizeof(*s->opener));
	copy_end(seen);
}

/* Has copies look at equal parts of this round. */
static void
share_out(struct opener_search *s, struct walk *w, struct copies *c)
{
	const size_t n = copies_wanted(walk_left(w), s->nodes.nodes), each = walk_left(w) / (n + 1);
	struct copy_part *part;

	while (c->n < n)
		switch (copy_begin(c, &part)) {
		case 1:
			look_as_copy(s, w, each, part);
		case 0:
			walk_give_share(w, each);
			break;
		default:
			return;
		}
}

/* Adds what the copies found. False if one did not look at all of its part. */
static bool
gather(struct opener_search *s, struct walk *w, const struct copies *c, pid_t *unsteady)
{
	const struct copy_part *part;
	bool all = true;
	size_t i, k;

	for (i = 0; i < c->n; i++) {
		if ((part = copy_await(c, i, s->at)) == NULL) {
			all = false;
			continue;
		}
		for (k = 0; k < s->nodes.nodes; k++)
			if (part->opener[k] > 0 || (part->opener[k] < 0 && s->opener[k] == 0))
				s->opener[k] = part->opener[k];
		*unsteady = part->unsteady != 0 ? part->unsteady : *unsteady;
		w->kept_waiting = part->slow != 0 ? part->slow : w->kept_waiting;
	}
	return all;
}

/* Looks at every process once. False, with *d unchanged, if time is up or /proc can't be read. */
static bool
walk_once(struct opener_search *s, struct incomplete *d)
{
	struct copies copies = { .n = 0 };
	pid_t unsteady = 0;
	autowalk struct walk w;
	bool seen;

	walk_begin(&w);
	s->nodes.proc = w.proc;
	share_out(s, &w, &copies);
	seen = look_on(s, &w, false, &unsteady);
	seen = gather(s, &w, &copies, &unsteady) && seen && look_on(s, &w, true, &unsteady);
	if (seen)
		*d = (struct incomplete){ unsteady, w.kept_waiting, w.full };
	return seen;
}

/*
 * Repeats the walk until one leaves no doubt. An opener found once stays one, even if the next walk misses it:
 * it may have passed the node on.
 */
static struct look_incomplete
walk_till_sure(struct opener_search *s)
{
	struct incomplete d = { 0 };
	bool all = true;

	while (all && clock_ms() <= s->nodes.budget.until)
		if ((all = walk_once(s, &d)) && d.unsteady == 0 && d.slow == 0)
			return (struct look_incomplete){ INCOMPLETE_NONE, 0 };
	if (clock_ms() <= s->nodes.budget.until)
		return (struct look_incomplete){ INCOMPLETE_PROC, 0 };
	if (d.unsteady == 0 && d.slow == 0)
		return (struct look_incomplete){ INCOMPLETE_FILES, *s->at };
	if (d.unsteady != 0)
		return (struct look_incomplete){ INCOMPLETE_UNSTEADY, d.unsteady };
	return (struct look_incomplete){ d.full ? INCOMPLETE_CROWDED : INCOMPLETE_SLOW, d.slow };
}

void
openers_find(const struct edit_node *node, size_t nodes, pid_t *opener, volatile pid_t *at, struct look_incomplete *out)
{
	autofree struct opener_search *s = calloc(1, sizeof(*s));
	autofree bool *held = calloc(nodes + 1, sizeof(*held));
	autoclose int proc = procdir_open(O_RDONLY);

	memset(opener, 0, nodes * sizeof(*opener));
	*out = (struct look_incomplete){ s == NULL || held == NULL ? INCOMPLETE_MEMORY : INCOMPLETE_PROC, 0 };
	if (s == NULL || held == NULL || proc == -1)
		return;
	s->opener = opener;
	s->at = at;
	s->nodes = (struct node_search){ .node = node, .nodes = nodes, .held = held,
		.budget = { UINT32_MAX, clock_ms() + OPENERS_MS } };
	if (host_process_find(proc, &s->host))
		*out = walk_till_sure(s);
}
