/*
 * See nodeholders.h. Looks at /proc only, and may take long: must never be called by a process that holds a lock.
 */
#include "nodeholders.h"

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
#include "walk.h"

struct holder_search {
	struct host_process home;
	pid_t *holder;
	volatile pid_t *at;
	struct node_search nodes;
};

/* False if the process can't be seen. */
static bool
look_for_nodes(struct holder_search *s, const char *pid)
{
	size_t i;

	*s->at = (pid_t)strtol(pid, NULL, 10);
	switch (process_is_containers(&s->home, s->nodes.proc, pid, NULL)) {
	case 0:
		return true;
	case -1:
		return false;
	}
	memset(s->nodes.held, 0, s->nodes.nodes * sizeof(*s->nodes.held));
	s->nodes.in_flight = false;
	if (!process_marks(&s->nodes, pid))
		return false;
	for (i = 0; i < s->nodes.nodes; i++)
		if (s->nodes.held[i])
			s->holder[i] = *s->at;
		else if (s->nodes.in_flight && s->holder[i] == 0)
			s->holder[i] = -*s->at;
	return true;
}

/* Why the last walk may have missed a holder; 0: no doubt. */
struct doubt {
	pid_t unsteady;		/* its threads or descriptors changed all the time, as those of an ending process do */
	pid_t slow;		/* it kept the walk waiting */
	bool full;		/* the walk waited because processes began faster than it looked at them */
};

/* Looks at every process once. False, with *d unchanged, if time is up or /proc can't be read. */
static bool
walk_once(struct holder_search *s, struct doubt *d)
{
	pid_t unsteady = 0;
	autowalk struct walk w;
	char pid[16];

	walk_begin(&w);
	s->nodes.proc = w.proc;
	while (walk_next(&w, pid)) {
		if (look_for_nodes(s, pid))
			continue;
		if (clock_ms() > s->nodes.looks.until)
			return false;
		unsteady = *s->at;
	}
	*d = (struct doubt){ unsteady, w.kept_waiting, w.full };
	return !w.failed;
}

/*
 * Repeats the walk until one leaves no doubt. A holder found once stays one, even if the next walk misses it:
 * it may have passed the node on.
 */
static struct look_doubt
walk_till_sure(struct holder_search *s)
{
	struct doubt d = { 0 };
	bool all = true;

	while (all && clock_ms() <= s->nodes.looks.until)
		if ((all = walk_once(s, &d)) && d.unsteady == 0 && d.slow == 0)
			return (struct look_doubt){ DOUBT_NONE, 0 };
	if (clock_ms() <= s->nodes.looks.until)
		return (struct look_doubt){ DOUBT_PROC, 0 };
	if (d.unsteady == 0 && d.slow == 0)
		return (struct look_doubt){ DOUBT_MANY_FILES, *s->at };
	if (d.unsteady != 0)
		return (struct look_doubt){ DOUBT_UNSTEADY, d.unsteady };
	return (struct look_doubt){ d.full ? DOUBT_CROWDED : DOUBT_SLOW, d.slow };
}

void
holders_find(const struct edit_node *node, size_t nodes, pid_t *holder, volatile pid_t *at,
    struct look_doubt *out)
{
	autofree struct holder_search *s = calloc(1, sizeof(*s));
	autofree bool *held = calloc(nodes + 1, sizeof(*held));
	autoclose int proc = procdir_open(O_RDONLY);

	memset(holder, 0, nodes * sizeof(*holder));
	*out = (struct look_doubt){ s == NULL || held == NULL ? DOUBT_MEMORY : DOUBT_PROC, 0 };
	if (s == NULL || held == NULL || proc == -1)
		return;
	s->holder = holder;
	s->at = at;
	s->nodes = (struct node_search){ .node = node, .nodes = nodes, .held = held,
		.looks = { UINT32_MAX, clock_ms() + HOLDERS_MS } };
	if (host_process_find(proc, &s->home))
		*out = walk_till_sure(s);
}
