/* VERB_STATUS.  Reads the leases and the queue under their lock, and changes neither. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "../host/clock.h"
#include "acts.h"
#include "grant.h"
#include "idle.h"
#include "leaseend.h"
#include "leaselist.h"
#include "owncgroup.h"
#include "queue.h"
#include "rate.h"

#define LEASES_SHOWN (800 * 1024)	/* bytes: the reply stays below its limit, whatever one user's leases are like */
#define WAITERS_SHOWN (150 * 1024)
#define NAME_MAX_SHOWN 256	/* bytes of an id or a root: a root may have 1024 */

static bool
may_see(const struct peer *p, uint32_t uid)
{
	return p->asker.uid == 0 || p->asker.uid == uid;
}

static json_t *
pack_gpu(const struct held_gpu *g)
{
	return json_pack("{s:s, s:s, s:s, s:b, s:i}", "vendor", gpu_vendor_name(g->vendor), "pci", g->pci,
	    "part", g->part, "exclusive", g->exclusive, "limit", (int)g->limit);
}

static json_t *
gpu_names(const struct held_gpu *gpu, size_t n)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < n; i++)
		json_array_append_new(list, pack_gpu(&gpu[i]));
	return list;
}

/* What is wrong with the nodes of one that is held. */
static json_t *
trouble(const struct lease *l)
{
	autostrlist struct strlist lines = { 0 };
	json_t *list = json_array();
	size_t i;

	if (!l->over && l->state == LEASE_HELD && !acts_trouble(l, &lines))
		json_array_append_new(list, json_string("no memory to look at its nodes"));
	for (i = 0; i < lines.n; i++)
		json_array_append_new(list, json_string(lines.v[i]));
	return list;
}

/* A name, cut where it is long, between two characters. */
static const char *
shown(const char *name, char out[NAME_MAX_SHOWN + 1])
{
	size_t n = strlen(name);

	if (n > NAME_MAX_SHOWN)
		for (n = NAME_MAX_SHOWN; n > 0 && ((unsigned char)name[n] & 0xc0) == 0x80; n--)
			;
	memcpy(out, name, n);
	out[n] = '\0';
	return out;
}

/* Adds one if there is room for it; *room is what is left. */
static void
add(json_t *list, json_t *one, size_t *room)
{
	size_t size = one != NULL ? json_dumpb(one, NULL, 0, JSON_COMPACT) + 1 : 0;

	if (size == 0 || size > *room) {
		*room = 0;
		json_decref(one);
		return;
	}
	*room -= size;
	json_array_append_new(list, one);
}

/* «left» gets when its task was first seen over, with processes of it left; 0: that is not so. */
static const char *
state_name(const struct lease *l, int64_t *left)
{
	enum idleness idleness = l->pauses && !l->over && l->state == LEASE_HELD ? idle_judge(l) : IDLENESS_BUSY;
	int64_t ms = l->pausing.left_since != 0 ? clock_ms() - l->pausing.left_since : 0;

	*left = idleness == IDLENESS_LEFT ? time(NULL) - ms / 1000 : 0;
	return l->over ? "over" : idleness == IDLENESS_IDLE ? "idle" : lease_state_name(l->state);
}

static json_t *
lease_status(const struct lease *l)
{
	char since[32], left_since[32], id[NAME_MAX_SHOWN + 1], root[NAME_MAX_SHOWN + 1];
	const char *state;
	int64_t left;

	state = state_name(l, &left);
	text_time(l->since, since);
	text_time(left, left_since);
	return json_pack("{s:s, s:s, s:I, s:s, s:s, s:s, s:s, s:s*, s:o, s:o}", "container", shown(l->id, id),
	    "root", shown(l->root, root),
	    "uid", (json_int_t)l->uid, "pipeline", l->pipeline, "policy", l->policy, "since", since,
	    "state", state, "left_behind_since", left != 0 ? left_since : NULL, "gpus", gpu_names(l->gpu, l->gpus),
	    "trouble", trouble(l));
}

static json_t *
waiter_status(const struct waiter *w, size_t ahead)
{
	unsigned count = 0;
	char since[32], id[NAME_MAX_SHOWN + 1];
	size_t i;

	for (i = 0; i < w->wants; i++)
		count += w->want[i].count;
	text_time(w->since, since);
	return json_pack("{s:s, s:I, s:s, s:s, s:i, s:I}", "container", shown(w->id, id), "uid", (json_int_t)w->uid,
	    "pipeline", w->pipeline, "since", since, "gpus", (int)count, "ahead", (json_int_t)ahead);
}

void
status(const struct peer *p, struct reply *reply)
{
	json_t *leases = json_array(), *waiters = json_array();
	struct queue q = { .dir = -1 };
	struct leases ls = { .dir = -1, .lock = -1, .line = -1 };
	const struct concern c = { .all = p->asker.uid == 0, .of_user = true, .uid = p->asker.uid };
	size_t i, room = LEASES_SHOWN;

	*reply = (struct reply){ .kind = REPLY_NOTED };
	if (leave_cgroup(p->starter, &reply->why) == -1 || rate_look(p->asker.uid, time(NULL), false, &reply->why) == -1 ||
	    leases_open(&ls, p->asker.uid, &reply->why) == -1 ||
	    leases_look(&ls, &c, -1, &reply->why) == -1 ||
	    queue_open(&q, &reply->why) == -1)
		reply->kind = REPLY_REFUSED;
	for (i = 0; i < ls.n && room > 0; i++)
		if (may_see(p, ls.v[i]->uid))
			add(leases, lease_status(ls.v[i]), &room);
	for (i = 0, room = WAITERS_SHOWN; i < q.n && room > 0; i++)
		if (may_see(p, q.v[i].uid))
			add(waiters, waiter_status(&q.v[i], i), &room);
	reply->status = json_pack("{s:o, s:o}", "leases", leases, "waiters", waiters);
	queue_close(&q);
	leases_close(&ls);
}
