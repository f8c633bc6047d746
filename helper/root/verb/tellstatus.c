/* VERB_STATUS. Reads the leases and the queue under the lock, and changes neither. */
#include <string.h>
#include <time.h>

#include "../../base/cleanup.h"
#include "../../host/clock.h"
#include "../../json/jsonout.h"
#include "../end/idle.h"
#include "../end/leaseend.h"
#include "../enter/owncgroup.h"
#include "../lease/leaselist.h"
#include "../lease/queue.h"
#include "../lease/teamshares.h"
#include "../log/lograte.h"
#include "../node/changes.h"
#include "verb.h"

#define LEASES_SHOWN (800 * 1024)	/* bytes: keeps the reply below its limit, whatever the leases are like */
#define WAITERS_SHOWN (150 * 1024)
#define NAME_MAX_SHOWN 256	/* bytes of an id or a root; a root may have 1024 */

static bool
may_see(const struct peer *peer, uint32_t uid)
{
	return peer->client.uid == 0 || peer->client.uid == uid;
}

/* Adds what is wrong with the nodes of a lease that is held. */
static void
put_trouble(struct jsonout *j, const struct lease *l)
{
	autostrlist struct strlist lines = { 0 };
	size_t i;

	jsonout_begin(j, "trouble", "[");
	if (!l->scan.over && l->state == LEASE_HELD && !changes_trouble(l, &lines))
		jsonout_text(j, NULL, "no memory to look at its nodes");
	for (i = 0; i < lines.n; i++)
		jsonout_text(j, NULL, lines.v[i]);
	jsonout_end(j, "]");
}

/* The name, cut between two characters if it is too long. */
static const char *
shorten(const char *name, char out[NAME_MAX_SHOWN + 1])
{
	size_t n = strlen(name);

	if (n > NAME_MAX_SHOWN)
		for (n = NAME_MAX_SHOWN; n > 0 && ((unsigned char)name[n] & 0xc0) == 0x80; n--)
			;
	memcpy(out, name, n);
	out[n] = '\0';
	return out;
}

/* Adds *one to the list, and empties it. *room: bytes that may still be added; 0 if it did not fit. */
static void
add_if_room(struct jsonout *list, struct jsonout *one, size_t *room)
{
	const size_t size = one->buf.len + 1;
	autofree char *text = jsonout_take(one);

	if (text == NULL || size > *room) {
		*room = 0;
		return;
	}
	*room -= size;
	jsonout_json(list, NULL, text);
}

/* *left: when the task was first seen to have left processes behind, in seconds since 1970; 0: it left none. */
static const char *
state_name(const struct lease *l, int64_t *left)
{
	enum idleness idleness = l->gpus_by_task && !l->scan.over && l->state == LEASE_HELD ? idle_classify(l) : IDLENESS_BUSY;
	const bool left_some = idleness == IDLENESS_LEFT && l->tasks.left_since != 0;

	*left = left_some ? time(NULL) - (clock_ms() - l->tasks.left_since) / 1000 : 0;
	return l->scan.over ? "over" : idleness == IDLENESS_IDLE ? "idle" : lease_state_name(l->state);
}

static void
tell_lease(struct jsonout *list, const struct lease *l, size_t *room)
{
	autojsonout struct jsonout j = { .next = false };
	char since[32], left_since[32], id[NAME_MAX_SHOWN + 1], root[NAME_MAX_SHOWN + 1];
	const char *state;
	int64_t left;

	state = state_name(l, &left);
	text_time(l->since, since);
	text_time(left, left_since);
	jsonout_begin(&j, NULL, "{");
	jsonout_text(&j, "container", shorten(l->id, id));
	jsonout_text(&j, "root", shorten(l->root, root));
	jsonout_int(&j, "uid", l->uid);
	jsonout_text(&j, "pipeline", l->pipeline);
	jsonout_text(&j, "policy", l->policy);
	jsonout_text(&j, "since", since);
	jsonout_text(&j, "state", state);
	if (left != 0)
		jsonout_text(&j, "left_behind_since", left_since);
	leased_gpus_write(&j, "gpus", l->gpu, l->gpus);
	if (l->gpus_by_task)
		leased_gpus_write(&j, "promised", l->tasks.promised_gpu, l->tasks.promised_gpus);
	if (l->tasks.task.pid != 0)
		jsonout_int(&j, "task", l->tasks.task.pid);
	put_trouble(&j, l);
	jsonout_end(&j, "}");
	add_if_room(list, &j, room);
}

static void
tell_queued(struct jsonout *list, const struct queued *w, size_t ahead, size_t *room)
{
	autojsonout struct jsonout j = { .next = false };
	char since[32], id[NAME_MAX_SHOWN + 1];
	unsigned count = 0;
	size_t i;

	for (i = 0; i < w->demands; i++)
		count += w->demand[i].count;
	text_time(w->since, since);
	jsonout_begin(&j, NULL, "{");
	jsonout_text(&j, "container", shorten(w->id, id));
	jsonout_int(&j, "uid", w->uid);
	jsonout_text(&j, "pipeline", w->pipeline);
	jsonout_text(&j, "since", since);
	jsonout_int(&j, "gpus", count);
	jsonout_int(&j, "ahead", (int64_t)ahead);
	jsonout_text(&j, "policy", w->policy);
	jsonout_int(&j, "priority", w->priority);
	if (w->urgent)
		jsonout_bool(&j, "urgent", true);
	if (w->task.pid != 0)
		jsonout_int(&j, "task", w->task.pid);
	jsonout_end(&j, "}");
	add_if_room(list, &j, room);
}

/* NULL: memory is short. */
static char *
tell_all(const struct peer *peer, const struct leases *ls, const struct queue *q)
{
	autojsonout struct jsonout j = { .next = false };
	size_t i, room = LEASES_SHOWN;

	jsonout_begin(&j, NULL, "{");
	jsonout_begin(&j, "leases", "[");
	for (i = 0; i < ls->n && room > 0; i++)
		if (may_see(peer, ls->v[i]->uid))
			tell_lease(&j, ls->v[i], &room);
	jsonout_end(&j, "]");
	jsonout_begin(&j, "waiters", "[");
	for (i = 0, room = WAITERS_SHOWN; i < q->n && room > 0; i++)
		if (may_see(peer, q->v[i].uid))
			tell_queued(&j, &q->v[i], i, &room);
	jsonout_end(&j, "]");
	jsonout_end(&j, "}");
	return jsonout_take(&j);
}

/* Reads what may be told. -1 with *why. */
static int
read_all(const struct peer *peer, struct leases *ls, struct queue *q, struct why *why)
{
	const struct lease_query c = { .all = peer->client.uid == 0, .of_user = true, .uid = peer->client.uid };

	if (leases_lock(ls, peer->client.uid, why) == -1 || leases_read(ls, &c, why) == -1 || leases_reap(ls, -1, why) == -1 ||
	    queue_open(q, -1, why) == -1)
		return -1;
	/* the order depends on all leases, and only root sees these */
	if (c.all)
		team_shares_rank(q, NULL, ls, NULL);
	return 0;
}

void
verb_status(const struct peer *peer, const struct request *r, struct reply *reply)
{
	autoleases struct leases ls = LEASES_CLOSED;
	autoqueue struct queue q = { .dir = -1 };
	struct why *why = &reply->why;

	(void)r;
	if (leave_cgroup(peer->starter, why) == 0 && rate_query(peer->client.uid, time(NULL), false, why) == 0 &&
	    read_all(peer, &ls, &q, why) == 0 && (reply->status = tell_all(peer, &ls, &q)) == NULL)
		refuse_nomem(why);
	reply->kind = reply->status != NULL ? REPLY_DONE : REPLY_REFUSED;
}
