/* See plangpus.h. Opens no GPU: looks at nodes by device.c. */
#include "plangpus.h"

#include <stdlib.h>
#include <string.h>

#include "../../base/cleanup.h"
#include "../child/engine.h"
#include "../child/looker.h"
#include "../lease/lookups.h"
#include "../node/device.h"
#include "leasesfor.h"

/* Files and variables. */

int
plan_extra_nodes(struct plan *p, struct why *why)
{
	return engine_take_nodes(&p->answer, &p->authz->decision, p->picks, p->picked, &p->extra_nodes, why) == -1 ? -1 :
	    lease_add_extra(&p->extra_nodes, &p->lease, why);
}

int
plan_driver_files(struct plan *p, struct why *why)
{
	const struct authz *authz = p->authz;
	const struct untrusted *w = &authz->call->request->untrusted;

	/* where no GPUs were looked for, only a workload manager's variables remain, which must name none */
	if (!authz->searched && w->cuda_visible == NULL && w->rocr_visible == NULL)
		return 0;
	/* where gpuhelper-engine picked the GPUs, its answer has this already; it picks none for a promise, or for no GPU */
	if ((lease_only_promises(&p->lease) || p->picked == 0) &&
	    engine_ask_all(&authz->decision, p->picks, p->picked, w, &p->edits, &p->answer, why) == -1)
		return -1;
	return plan_extra_nodes(p, why) == -1 ? -1 : engine_take_edits(&p->answer, &authz->settings, &p->edits.driver, why);
}

/*
 * The runtime resolves the paths to the driver's files and hooks again, too. They are looked at under the lock and
 * after the leases were read, so that nobody can redirect what is found.
 */
static int
find_driver_files(struct plan *p, struct why *why)
{
	const size_t folders = p->lease.lookups;
	autostrlist struct strlist files = { 0 };

	p->lease.container.hooked = p->edits.driver.run.n > 0;
	if (!strlist_append(&files, &p->edits.driver.mounted) || !strlist_append(&files, &p->edits.driver.run))
		return refuse_nomem(why);
	return files.n > 0 && looker_ask_files(&files, &p->lease, why) == -1 ? -1 :
	    lookups_check_hooks(&p->lease, folders, why);
}

/* Nodes. */

/* Calls «step» for every node that the picks need. */
static int
each_node(struct plan *p, const struct device_view *all, device_do *step, struct why *why)
{
	/* the GPUs of the picks, as they are held or are to be */
	const struct leased_gpu *gpu = lease_only_promises(&p->lease) ? p->lease.tasks.promised_gpu : p->lease.gpu;
	struct device_view view = *all;
	size_t i;

	for (i = 0; i < p->picked; i++) {
		view.alone = gpu[i].exclusive && gpu[i].part[0] == '\0';
		if (device_each(&view, p->picks[i].gpu, p->picks[i].rule->capabilities, step, &p->edits, why) == -1)
			return -1;
	}
	for (i = 0; i < p->extra_nodes.n; i++)
		if (step(all, &p->extra_nodes.v[i], &p->edits, why) == -1)
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
 * Notes all nodes as promised, and none as allowed. The container gets nothing yet, so of the changes only those remain
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
allow_in_lease(struct plan *p, struct why *why)
{
	const struct edits *e = &p->edits;
	autofree struct devnum *v = calloc(e->nodes + 1, sizeof(*v));
	size_t i;

	if (v == NULL)
		return refuse_nomem(why);
	for (i = 0; i < e->nodes; i++)
		v[i] = (struct devnum){ e->node[i].major, e->node[i].minor };
	lease_tasks_allow(&p->lease.tasks, v, e->nodes);
	return 0;
}

/* For a container whose tasks take GPUs: what the lease says of its nodes, after the edits have got them. */
static int
finish_nodes(struct plan *p, struct why *why)
{
	return !p->lease.gpus_by_task ? 0 : lease_only_promises(&p->lease) ? promise_nodes(p, why) :
	    allow_in_lease(p, why);
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

	return find_driver_files(p, why) == -1 || lookups_check_root(l, l->uid, why) == -1 ||
	    lookups_may_add(ls, l, why) == -1 || plan_nodes(p, ls, why) == -1 ? -1 : 0;
}
