/* See plangpus.h. Opens no GPU: looks at nodes by device.c. */
#include "plangpus.h"

#include <stdlib.h>
#include <string.h>

#include "../../base/cleanup.h"
#include "../child/engine.h"
#include "../lease/lookups.h"
#include "../node/device.h"
#include "../self/timer.h"
#include "leasesfor.h"

#define LOOKUPS_MS 3000	/* found in microseconds, unless a path leads into a file system that does not answer */

/* Files and variables. */

static void
list_wants(const struct plan *p, struct driver_want want[GPUS_MAX])
{
	size_t i;

	for (i = 0; i < p->picked; i++)
		want[i] = (struct driver_want){ p->picks[i].gpu, p->picks[i].rule };
}

int
plan_extra_nodes(struct plan *p, struct why *why)
{
	struct driver_want want[GPUS_MAX];

	list_wants(p, want);
	return engine_take_nodes(&p->comes, &p->authz->decision, want, p->picked, &p->extra, why) == -1 ? -1 :
	    lease_add_extra(&p->extra, &p->lease, why);
}

int
plan_driver_files(struct plan *p, struct why *why)
{
	const struct authz *r = p->authz;
	struct driver_want want[GPUS_MAX];

	if (!r->looked)
		return 0;
	list_wants(p, want);
	/* gpuhelper-engine has picked what a grant gets now; a promise is of all candidates, another grant has no GPUs */
	if ((plan_promises(p) || p->picked == 0) && engine_ask_all(&r->decision, want, p->picked, &p->comes, why) == -1)
		return -1;
	if (plan_extra_nodes(p, why) == -1 || engine_take_edits(&p->comes, &r->settings, &p->edits, &p->specs, why) == -1)
		return -1;
	edits_sort_mounts(&p->edits);
	return 0;
}

/* The driver's files are root's, but gpuhelper-engine says where they are. */
static int
note_driver_lookups(struct plan *p, struct why *why)
{
	int ret;

	end_after(LOOKUPS_MS);
	ret = lookups_note_driver(&p->edits, &p->lease, why);
	end_after(0);
	return ret;
}

/*
 * A workload manager's variable numbers the GPUs of the host. The container sees only its own GPUs, so the variable
 * must name all of these: 0, 1, and so on.
 */
static int
renumber(const struct plan *p, enum gpu_vendor vendor, const char *bound, const char *variable, struct strlist *env,
    struct why *why)
{
	autobuf struct buf b = { 0 };
	unsigned n = 0;
	size_t i;

	if (bound == NULL || !p->authz->settings.respect_allocation)
		return 0;
	buf_printf(&b, "%s=", variable);
	for (i = 0; i < p->picked; i++)
		if (p->picks[i].gpu->vendor == vendor) {
			buf_printf(&b, n > 0 ? ",%u" : "%u", n);
			n++;
		}
	return b.failed || !strlist_add(env, b.p, SIZE_MAX) ? refuse_nomem(why) : 0;
}

int
plan_task_env(const struct plan *p, struct strlist *env, struct why *why)
{
	const struct request *r = p->authz->call->request;

	return renumber(p, GPU_NVIDIA, r->words.cuda_visible, "CUDA_VISIBLE_DEVICES", env, why) == -1 ||
	    renumber(p, GPU_AMD, r->words.rocr_visible, "ROCR_VISIBLE_DEVICES", env, why) == -1 ? -1 : 0;
}

/* The variables that depend on which GPUs were picked. A promise's task gets them when it takes its GPUs. */
static int
add_picks_env(struct plan *p, struct why *why)
{
	autostrlist struct strlist env = { 0 };
	size_t i;

	if (plan_promises(p))
		return 0;
	if (plan_task_env(p, &env, why) == -1)
		return -1;
	for (i = 0; i < env.n; i++)
		if (!edits_add_env(&p->edits, env.v[i]))
			return refuse_nomem(why);
	return 0;
}

/* Nodes. */

/* Calls «step» for every node that the picks need. */
static int
each_node(struct plan *p, const struct device_view *all, device_do *step, struct why *why)
{
	struct device_view view = *all;
	size_t i;

	for (i = 0; i < p->picked; i++) {
		view.alone = plan_held(p, i)->exclusive && plan_held(p, i)->part[0] == '\0';
		if (device_each(&view, p->picks[i].gpu, p->picks[i].rule->capabilities, step, &p->edits, why) == -1)
			return -1;
	}
	for (i = 0; i < p->extra.n; i++)
		if (step(all, &p->extra.v[i], &p->edits, why) == -1)
			return -1;
	return 0;
}

/* As device_add(), except for a node that is still to be made. */
static int
add_if_there(const struct device_view *v, const struct gpu_node *n, struct edits *out, struct why *why)
{
	size_t i;

	for (i = 0; i < v->changes->n; i++)
		if (v->changes->v[i].kind == CHANGE_MAKE_NODE && !v->changes->v[i].shared && strcmp(v->changes->v[i].path,
		    n->path) == 0)
			return 0;
	return device_add(v, n, out, why);
}

static struct device_view
view_for(struct plan *p)
{
	return (struct device_view){ .inv = &p->authz->decision.inventory, .subject = &p->subject,
		.peer = p->authz->call->peer, .lease = &p->lease, .changes = &p->changes, .label = &p->label };
}

/*
 * Notes all nodes as promised, and none as open. The container gets nothing yet, so of the changes only those remain
 * that make missing nodes.
 */
static int
promise_nodes(struct plan *p, struct why *why)
{
	const struct edits *e = &p->edits;
	struct lease *l = &p->lease;
	struct promised_node *v;
	size_t i;

	if (e->nodes > PROMISED_NODES_MAX)
		return refuse(why, WHY_CONFIG, "the GPUs that this policy allows have %zu nodes, at most %d can be promised: list "
		    "fewer GPUs in its rules", e->nodes, PROMISED_NODES_MAX);
	if ((v = reallocarray(l->tasks.node, e->nodes + 1, sizeof(*v))) == NULL)
		return refuse_nomem(why);
	l->tasks.node = v;
	for (i = 0; i < e->nodes; i++)
		v[i] = (struct promised_node){ e->node[i].major, e->node[i].minor, false };
	l->tasks.nodes = e->nodes;
	changes_keep_nodes(&p->changes);
	l->nodes = 0;
	p->edits.promise = true;
	return 0;
}

/* The nodes of the edits are those that the container's device rules are to allow. */
static int
open_in_lease(struct plan *p, struct why *why)
{
	const struct edits *e = &p->edits;
	autofree struct devnum *v = calloc(e->nodes + 1, sizeof(*v));
	size_t i;

	if (v == NULL)
		return refuse_nomem(why);
	for (i = 0; i < e->nodes; i++)
		v[i] = (struct devnum){ e->node[i].major, e->node[i].minor };
	lease_tasks_open(&p->lease.tasks, v, e->nodes);
	return 0;
}

/* For a container whose tasks take GPUs: what the lease says of its nodes, after the edits have got them. */
static int
finish_nodes(struct plan *p, struct why *why)
{
	return !p->lease.placeholder ? 0 : plan_promises(p) ? promise_nodes(p, why) : open_in_lease(p, why);
}

int
plan_nodes(struct plan *p, struct leases *ls, struct why *why)
{
	const struct device_view view = view_for(p);
	struct lease *l = &p->lease;

	if (leases_for_nodes(p, ls, why) == -1 || lease_check_nodes(ls, l, p->picks, why) == -1 ||
	    each_node(p, &view, device_plan, why) == -1 || each_node(p, &view, add_if_there, why) == -1)
		return -1;
	if (finish_nodes(p, why) == -1)
		return -1;
	/* a promise keeps only the changes that make nodes */
	l->planned = p->changes.n > 0;
	return 0;
}

int
plan_made_nodes(struct plan *p, struct why *why)
{
	const struct device_view view = view_for(p);

	p->edits.nodes = p->edits.gids = 0;
	return each_node(p, &view, device_add, why) == -1 ? -1 : finish_nodes(p, why);
}

int
plan_gpus(struct plan *p, struct leases *ls, struct why *why)
{
	struct lease *l = &p->lease;

	return note_driver_lookups(p, why) == -1 || lookups_check_root(l, l->uid, why) == -1 ||
	    lookups_may_add(ls, l, why) == -1 || add_picks_env(p, why) == -1 || plan_nodes(p, ls, why) == -1 ? -1 : 0;
}
