/* VERB_STATUS.  Reads the leases and the queue under their lock, and changes neither. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "acts.h"
#include "grant.h"
#include "lease.h"
#include "owncgroup.h"
#include "queue.h"

#define SHOWN_MAX 1500		/* of each, so that the reply stays below its limit */

static bool
may_see(const struct peer *p, uint32_t uid)
{
	return p->asker.uid == 0 || p->asker.uid == uid;
}

static json_t *
gpu_names(const struct held_gpu *gpu, size_t n)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < n; i++)
		json_array_append_new(list, held_gpu_pack(&gpu[i]));
	return list;
}

/* What is wrong with the nodes of one that is held. */
static json_t *
trouble(const struct lease *l)
{
	autostrlist struct strlist lines = { 0 };
	json_t *list = json_array();
	size_t i;

	if (!l->over && !l->draining && !acts_trouble(l, &lines))
		json_array_append_new(list, json_string("no memory to look at its nodes"));
	for (i = 0; i < lines.n; i++)
		json_array_append_new(list, json_string(lines.v[i]));
	return list;
}

static json_t *
lease_status(const struct lease *l)
{
	char since[32];

	text_time(l->since, since);
	return json_pack("{s:s, s:s, s:I, s:s, s:s, s:s, s:s, s:o, s:o}", "container", l->id, "root", l->root,
	    "uid", (json_int_t)l->uid, "pipeline", l->pipeline, "policy", l->policy, "since", since,
	    "state", l->over ? "over" : l->draining ? "draining" : "held", "gpus", gpu_names(l->gpu, l->gpus),
	    "trouble", trouble(l));
}

static json_t *
waiter_status(const struct waiter *w, size_t ahead)
{
	unsigned count = 0;
	char since[32];
	size_t i;

	for (i = 0; i < w->wants; i++)
		count += w->want[i].count;
	text_time(w->since, since);
	return json_pack("{s:s, s:I, s:s, s:s, s:i, s:I}", "container", w->id, "uid", (json_int_t)w->uid,
	    "pipeline", w->pipeline, "since", since, "gpus", (int)count, "ahead", (json_int_t)ahead);
}

void
status(const struct peer *p, struct reply *reply)
{
	json_t *leases = json_array(), *waiters = json_array();
	struct queue q = { .dir = -1 };
	struct leases ls = { .dir = -1, .lock = -1 };
	size_t i;

	*reply = (struct reply){ .kind = REPLY_NOTED };
	if (leave_cgroup(p->asker.uid, &reply->why) == -1 || leases_open(&ls, NULL, NULL, &reply->why) == -1 ||
	    queue_open(&q, &reply->why) == -1)
		reply->kind = REPLY_REFUSED;
	for (i = 0; i < ls.n && json_array_size(leases) < SHOWN_MAX; i++)
		if (may_see(p, ls.v[i].uid))
			json_array_append_new(leases, lease_status(&ls.v[i]));
	for (i = 0; i < q.n && json_array_size(waiters) < SHOWN_MAX; i++)
		if (may_see(p, q.v[i].uid))
			json_array_append_new(waiters, waiter_status(&q.v[i], i));
	reply->status = json_pack("{s:o, s:o}", "leases", leases, "waiters", waiters);
	queue_close(&q);
	leases_close(&ls);
}
