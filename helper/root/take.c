/*
 * See take.h.  What is decided under the lock is written down under it; what is
 * done to the host comes later, once it is in the audit log.
 */
#include "take.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../host/drainedlist.h"
#include "../pure/vendorenv.h"
#include "acts.h"
#include "concern.h"
#include "device.h"
#include "execrecord.h"
#include "host.h"
#include "idle.h"
#include "leaseend.h"
#include "leasewrite.h"
#include "ways.h"

/* A place in the queue for a request that may wait, so that it is the next time no later than those behind it. */
static int
stay_in_queue(struct work *w, struct queue *q, struct waiter *me)
{
	const struct lease *l = &w->lease;
	const unsigned wait = w->decision.grant.wait;
	struct why why;

	/* who has asked for as long as his policy lets him has asked for the last time */
	if (wait == 0 || queue_waited(q, me->key) >= wait) {
		if (wait > 0) {
			queue_leave(q, me->key);
			refuse(&why, WHY_AGAIN, "waited %u s: %s", wait, w->why.text);
			w->why = why;
		}
		return -1;
	}
	me->uid = l->uid;
	me->pid = w->peer->pid;
	me->start = w->peer->start;
	me->wait = wait;
	if ((me->id = strdup(l->id)) == NULL || (me->pipeline = strdup(l->pipeline)) == NULL)
		return refuse_nomem(&w->why);
	if (queue_stay(q, me, &why) == 0) {
		w->waits = true;
		refuse(&why, WHY_AGAIN, "waiting up to %u s: %s", wait, w->why.text);
	}
	w->why = why;
	return -1;
}

/* Too few are free: some that idle containers have may be, soon. */
static int
wait_for_some(struct work *w, const struct idle *idle, struct queue *q, struct waiter *me)
{
	struct why why;
	bool soon;

	if (w->why.code != WHY_AGAIN)
		return -1;
	if (idle_begin(idle, me, &soon, &why) == -1) {
		w->why = why;
		return -1;
	}
	if (w->decision.grant.wait > 0 || (!soon && w->chores.n == 0))
		return stay_in_queue(w, q, me);
	w->waits = true;
	return -1;
}

/* One step for every node that the picked GPUs need. */
static int
each_node(struct work *w, const struct device_view *all, device_do *what)
{
	struct device_view view = *all;
	size_t i;

	for (i = 0; i < w->lease.gpus; i++) {
		view.alone = w->lease.gpu[i].exclusive && w->lease.gpu[i].part[0] == '\0';
		if (device_each(&view, w->picks[i].gpu, w->picks[i].rule->capabilities, what, &w->edits, &w->why) == -1)
			return -1;
	}
	for (i = 0; i < w->more.n; i++)
		if (what(all, &w->more.v[i], &w->edits, &w->why) == -1)
			return -1;
	return 0;
}

static struct driver_question
driver_question(const struct work *w, struct driver_want want[GPUS_MAX])
{
	size_t i;

	for (i = 0; i < w->lease.gpus; i++)
		want[i] = (struct driver_want){ w->picks[i].gpu, w->picks[i].rule };
	return (struct driver_question){ &host_seen()->specs, &w->decision.inventory, &w->settings, want, w->lease.gpus };
}

int
take_further(struct work *w)
{
	struct driver_want want[GPUS_MAX];
	const struct driver_question q = driver_question(w, want);

	return driver_nodes(&q, &w->more, &w->why) == -1 ? -1 : allot_further(&w->more, &w->lease, &w->why);
}

/* Of the CDI specs that the GPUs are in. */
static int
add_driver(struct work *w)
{
	struct driver_want want[GPUS_MAX];
	const struct driver_question q = driver_question(w, want);

	if (driver_files(&q, &w->edits, &w->specs, &w->why) == -1 || take_further(w) == -1)
		return -1;
	edits_sort_mounts(&w->edits);
	return 0;
}

/* For a vendor's runtime below: what was granted, and no more. */
static int
add_vendor_env(struct work *w)
{
	struct vendor_grant granted[GPUS_MAX];
	size_t i;

	for (i = 0; i < w->lease.gpus; i++)
		granted[i] = (struct vendor_grant){ w->picks[i].gpu, w->picks[i].rule->capabilities };
	return w->settings.driver_files != DRIVER_FILES_VENDOR_RUNTIME ? 0 :
	    vendor_env(&w->decision.inventory, granted, w->lease.gpus, &w->edits.env, &w->why);
}

/* A choice among the host's GPUs means another one among those that the container sees: all of them. */
static int
renumber(struct work *w, enum gpu_vendor vendor, const char *bound, const char *variable)
{
	autobuf struct buf b = { 0 };
	unsigned n = 0;
	size_t i;

	if (bound == NULL)
		return 0;
	buf_printf(&b, "%s=", variable);
	for (i = 0; i < w->lease.gpus; i++)
		if (w->picks[i].gpu->vendor == vendor) {
			buf_printf(&b, n > 0 ? ",%u" : "%u", n);
			n++;
		}
	return b.failed || !edits_add_env(&w->edits, b.p) ? refuse_nomem(&w->why) : 0;
}

int
name_gpus(struct work *w)
{
	autobuf struct buf name = { 0 };
	const struct gpu *g;
	char part[16];
	size_t i;

	for (i = 0; i < w->lease.gpus; i++) {
		g = w->picks[i].gpu;
		name.len = 0;
		gpu_part(&w->decision.inventory, g, part);
		buf_printf(&name, "%s %s%s%s%s%s", gpu_vendor_name(g->vendor), g->pci, g->uuid[0] ? " " : "", g->uuid,
		    part[0] ? " part " : "", part);
		if (name.failed || !strlist_add(&w->gpu_names, name.p, SIZE_MAX))
			return refuse_nomem(&w->why);
	}
	return 0;
}

/* A node that is still to be made can't be looked at. */
static int
add_if_there(const struct device_view *v, const struct gpu_node *n, struct edits *out, struct why *why)
{
	size_t i;

	for (i = 0; i < v->lease->acts; i++)
		if (v->lease->act[i].kind == ACT_MAKE_NODE && v->lease->act[i].inode == 0 &&
		    strcmp(v->lease->act[i].path, n->path) == 0)
			return 0;
	return device_add(v, n, out, why);
}

static struct device_view
view_of(struct work *w, const struct leases *ls)
{
	return (struct device_view){ .inv = &w->decision.inventory, .subject = &w->subject, .peer = w->peer, .others = ls,
		.lease = &w->lease, .label = &w->label };
}

/* What would have to be done to the nodes, and what the container gets of them: written down, not done. */
int
plan_nodes(struct work *w, struct leases *ls)
{
	const struct device_view view = view_of(w, ls);

	if (concern_read_nodes(w, ls) == -1 || allot_check_nodes(ls, &w->lease, w->picks, &w->why) == -1 ||
	    each_node(w, &view, device_plan) == -1 ||
	    each_node(w, &view, add_if_there) == -1)
		return -1;
	w->lease.planned = w->lease.acts > 0;
	return leases_write_more(ls, &w->lease, &w->why);
}

static int
plan(struct work *w, struct leases *ls)
{
	return add_driver(w) == -1 || ways_note_driver(&w->edits, &w->lease, &w->why) == -1 ||
	    ways_check_claim(&w->lease, w->lease.uid, &w->why) == -1 ||
	    ways_admit(ls, &w->lease, &w->why) == -1 || (w->settings.respect_allocation &&
	    (renumber(w, GPU_NVIDIA, w->request->cuda_visible, "CUDA_VISIBLE_DEVICES") == -1 ||
	    renumber(w, GPU_AMD, w->request->rocr_visible, "ROCR_VISIBLE_DEVICES") == -1)) ||
	    plan_nodes(w, ls) == -1 ? -1 : add_vendor_env(w);
}

int
pick_gpus_again(struct work *w, const struct idle *idle, struct queue *q, struct waiter *me)
{
	const struct withheld no = { &w->strays, &w->drained };

	/* under the lock: who drains a GPU and asks for the leases then sees whoever still got it */
	drained_free(&w->drained);
	if (w->decision.grant.gpus > 0 && drained_list(&w->drained, &w->why) == -1)
		return -1;
	w->ahead = queue_place(q, me->key);
	w->lease.pausing.waited = queue_waited(q, me->key);
	if (allot_wants(&w->decision, me, &w->why) == -1 || idle_finish(idle, me, &w->why) == -1)
		return -1;
	if (allot(idle->leases, q, &no, &w->decision, &w->known.id, &w->lease, me, w->picks, GPUS_MAX,
	    &w->why) == -1)
		return wait_for_some(w, idle, q, me);
	return 0;
}

/* Picks, and has the lease admitted. */
static int
pick(struct work *w, const struct idle *idle, struct queue *q, struct waiter *me)
{
	const struct leases *ls = idle->leases;

	if (pick_gpus_again(w, idle, q, me) == -1)
		return -1;
	return leases_admit(ls, &w->lease, &w->why) == -1 || ways_admit(ls, &w->lease, &w->why) == -1 ? -1 :
	    label_admit(&w->label, ls, &w->lease, &w->why);
}

/* Under the lock.  Nothing that the caller controls is touched while it is held. */
static int
take_under_lock(struct work *w, char key[LEASE_KEY_SIZE])
{
	struct leases ls;
	const struct idle idle = { .peer = w->peer, .request = w->request, .leases = &ls, .chores = &w->chores,
		.audit = w->audit };
	struct queue q = { .dir = -1 };
	struct waiter me = { 0 };
	struct why ignored;
	int ret;

	memcpy(me.key, w->lease.key, sizeof(me.key));
	queue_renew(me.key);
	ret = leases_open(&ls, w->peer->asker.uid, &w->why);
	/* a crowd at the lock is no reason to give up: who may not wait for GPUs asks again for some seconds all the same */
	if (ret == -1 && w->why.code == WHY_AGAIN)
		w->waits = true;
	/* who wants folders alone stands behind nobody, and reads no places */
	if (ret == 0 && w->decision.grant.gpus > 0)
		ret = queue_open(&q, &w->why);
	if (ret == 0 && (ret = concern_look(w, &ls, &q, true)) == 0 &&
	    (ret = pick(w, &idle, &q, &me)) == 0) {
		if ((ret = plan(w, &ls)) == 0)
			memcpy(key, w->lease.key, LEASE_KEY_SIZE);
		else
			(void)leases_remove(&ls, &w->lease, &ignored);
	}
	/* nor does one stand before others whose turn came, and who could not be given anything */
	if (q.dir != -1 && !w->waits)
		queue_leave(&q, me.key);
	queue_close(&q);
	waiter_free(&me);
	leases_close(&ls);
	return ret;
}

/* Who has them open can't be seen now: on a busy machine it can be soon, and whoever may wait for a GPU waits. */
static int
look_again_soon(struct work *w)
{
	w->waits = w->soon = w->why.code == WHY_AGAIN && w->decision.grant.wait > 0;
	return -1;
}

int
check_alone(struct work *w)
{
	struct strays strays;
	int ret = strays_of_picks(&w->lease, w->picks, &w->more, &strays, &w->why);

	if (ret == -1)
		(void)look_again_soon(w);
	if (ret == 0 && strays.n > 0) {
		w->met_stray = true;
		w->waits = w->decision.grant.wait > 0;
		ret = refuse(&w->why, WHY_AGAIN, "GPU %s is open in process %d, of a container that has no lease of it",
		    strays.v[0].gpu.pci, strays.v[0].pid);
	}
	strays_free(&strays);
	return ret;
}

/*
 * Who has a picked GPU open, without a lease, is looked for once it is picked.  With look_first, all GPUs that may be
 * picked are looked at before: the last try met such a one, which is not to be picked again.
 */
int
take_lease(struct work *w, char key[LEASE_KEY_SIZE])
{
	struct why ignored;

	if (w->look_first && strays_of_wants(&w->decision, &w->settings, &w->strays, &w->why) == -1)
		return look_again_soon(w);
	if (take_under_lock(w, key) == -1)
		return -1;
	if (check_alone(w) == 0)
		return 0;
	(void)leases_drop(w->peer, w->request->runtime_root, w->request->id, "", NULL, &ignored);
	key[0] = '\0';
	return -1;
}

/* Nodes that are made can be looked at: what they need becomes part of the lease before it is done. */
static int
make_nodes(struct work *w, struct leases *ls)
{
	const struct inventory *inv = &w->decision.inventory;
	const struct birth birth = { inv->nvidia_mode, inv->nvidia_uid, inv->nvidia_gid };
	const struct device_view view = view_of(w, ls);
	bool missing = false;
	size_t i;

	for (i = 0; i < w->lease.acts; i++)
		missing = missing || (w->lease.act[i].kind == ACT_MAKE_NODE && w->lease.act[i].inode == 0);
	if (!missing)
		return 0;
	if (acts_make_nodes(ls, &w->lease, &birth, &w->why) == -1 || concern_read_nodes(w, ls) == -1)
		return -1;
	w->edits.nodes = w->edits.gids = 0;
	return each_node(w, &view, device_add) == -1 ? -1 : leases_write_more(ls, &w->lease, &w->why);
}

int
open_planned(struct work *w, struct leases *ls)
{
	return make_nodes(w, ls) == -1 ? -1 : acts_allow(ls, &w->lease, &w->why);
}

/*
 * Not under the lock, which many may wait for.  Who ends the lease removes its
 * record with it, and nobody does while the asker lives: so the record is there
 * by then, or this sees that the asker is gone.
 */
static int
record_for_execs(struct work *w)
{
	const bool tells = w->lease.gpus > 0 && work_has_placeholder(w);

	if (exec_record_write(w->peer, &w->lease, &w->edits, tells, &w->why) == -1)
		return -1;
	if (process_id_lives(w->lease.asker))
		return 0;
	(void)exec_record_remove(w->lease.uid, w->lease.root, w->lease.id, &w->why);
	return refuse(&w->why, WHY_IO, "the process that asked, PID %d, is gone", w->lease.asker.pid);
}

int
check_planned(struct work *w, struct leases *ls)
{
	const struct lease *mine = &w->lease;
	const struct lease *l = leases_find_asked(ls, mine->key, mine->asker, mine->boot, &w->why);

	if (l == NULL) {
		/* its record went with it, or was written later */
		if (w->why.code == WHY_AGAIN && leases_find(ls, mine->uid, mine->root, mine->id) == NULL)
			(void)exec_record_remove(mine->uid, mine->root, mine->id, &(struct why){ 0 });
		return -1;
	}
	return l->planned == mine->planned && l->state == LEASE_HELD ? 0 :
	    refuse(&w->why, WHY_AGAIN, "container %s: its lease ends already", mine->id);
}

/* What nothing is done for needs no look at the others. */
int
open_nodes(struct work *w)
{
	struct leases ls;
	int ret;

	if (record_for_execs(w) == -1)
		return -1;
	if (w->lease.acts == 0)
		return 0;
	if ((ret = leases_open_again(&ls, w->peer->asker.uid, &w->why)) == 0 && (ret = check_planned(w, &ls)) == 0) {
		w->lease.planned = false;
		ret = leases_write(&ls, &w->lease, &w->why) == -1 ? -1 : open_planned(w, &ls);
	}
	leases_close(&ls);
	return ret;
}
