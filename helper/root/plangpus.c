/* See plangpus.h. Opens no GPU: looks at nodes by device.c, and at CDI specs that are loaded already. */
#include "plangpus.h"

#include <string.h>

#include "../pure/furthernode.h"
#include "../pure/vendorenv.h"
#include "concern.h"
#include "device.h"
#include "host.h"
#include "leasewrite.h"
#include "ways.h"

/* Files and variables. */

static struct driver_question
driver_question(const struct plan *p, struct driver_want want[GPUS_MAX])
{
	const struct ruling *r = p->ruling;
	size_t i;

	for (i = 0; i < p->lease.gpus; i++)
		want[i] = (struct driver_want){ p->picks[i].gpu, p->picks[i].rule };
	return (struct driver_question){ &host_seen()->specs, &r->decision.inventory, &r->settings, want, p->lease.gpus };
}

int
plan_further_nodes(struct plan *p, struct why *why)
{
	struct driver_want want[GPUS_MAX];
	const struct driver_question q = driver_question(p, want);

	return driver_nodes(&q, &p->further, why) == -1 ? -1 : allot_further(&p->further, &p->lease, why);
}

/* A policy may list words for hosts of several kinds: one that finds no node here is told, but not refused. */
static bool
note_idle_words(struct plan *p)
{
	unsigned idle = 0, bit;
	bool whole = true;
	size_t i;

	for (i = 0; i < p->lease.gpus; i++)
		idle |= p->picks[i].rule->nodes & ~p->further.words;
	for (bit = 1; bit <= idle && whole; bit <<= 1)
		if ((idle & bit) != 0)
			whole = edits_add_note(&p->edits, "the policy says nodes = [ \"%s\" ], and no usable CDI spec here has "
			    "such a node", further_word_name(bit));
	return whole;
}

static int
add_driver_files(struct plan *p, struct why *why)
{
	struct driver_want want[GPUS_MAX];
	const struct driver_question q = driver_question(p, want);

	if (driver_files(&q, &p->edits, &p->specs, why) == -1 || plan_further_nodes(p, why) == -1)
		return -1;
	if (!note_idle_words(p))
		return refuse_nomem(why);
	edits_sort_mounts(&p->edits);
	return 0;
}

/* Tells a vendor's runtime, which runs after the wrapper, what was granted, so that it adds no more. */
static int
add_vendor_env(struct plan *p, struct why *why)
{
	struct vendor_grant granted[GPUS_MAX];
	size_t i;

	for (i = 0; i < p->lease.gpus; i++)
		granted[i] = (struct vendor_grant){ p->picks[i].gpu, p->picks[i].rule->capabilities };
	return p->ruling->settings.driver_files != DRIVER_FILES_VENDOR_RUNTIME ? 0 :
	    vendor_env(&p->ruling->decision.inventory, granted, p->lease.gpus, &p->edits.env, why);
}

/*
 * A workload manager's variable numbers the GPUs of the host. The container sees only its own GPUs, so the variable
 * must name all of these: 0, 1, and so on.
 */
static int
renumber(struct plan *p, enum gpu_vendor vendor, const char *bound, const char *variable, struct why *why)
{
	autobuf struct buf b = { 0 };
	unsigned n = 0;
	size_t i;

	if (bound == NULL || !p->ruling->settings.respect_allocation)
		return 0;
	buf_printf(&b, "%s=", variable);
	for (i = 0; i < p->lease.gpus; i++)
		if (p->picks[i].gpu->vendor == vendor) {
			buf_printf(&b, n > 0 ? ",%u" : "%u", n);
			n++;
		}
	return b.failed || !edits_add_env(&p->edits, b.p) ? refuse_nomem(why) : 0;
}

/* Nodes. */

/* Calls «step» for every node that the picks need. */
static int
each_node(struct plan *p, const struct device_view *all, device_do *step, struct why *why)
{
	struct device_view view = *all;
	size_t i;

	for (i = 0; i < p->lease.gpus; i++) {
		view.alone = p->lease.gpu[i].exclusive && p->lease.gpu[i].part[0] == '\0';
		if (device_each(&view, p->picks[i].gpu, p->picks[i].rule->capabilities, step, &p->edits, why) == -1)
			return -1;
	}
	for (i = 0; i < p->further.n; i++)
		if (step(all, &p->further.v[i], &p->edits, why) == -1)
			return -1;
	return 0;
}

/* As device_add(), except for a node that is still to be made. */
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
view_for(struct plan *p, const struct leases *ls)
{
	return (struct device_view){ .inv = &p->ruling->decision.inventory, .subject = &p->subject,
		.peer = p->ruling->call->peer, .others = ls, .lease = &p->lease, .label = &p->label };
}

int
plan_nodes(struct plan *p, struct leases *ls, struct why *why)
{
	const struct device_view view = view_for(p, ls);

	if (concern_read_nodes(p, ls, why) == -1 || allot_check_nodes(ls, &p->lease, p->picks, why) == -1 ||
	    each_node(p, &view, device_plan, why) == -1 || each_node(p, &view, add_if_there, why) == -1)
		return -1;
	p->lease.planned = p->lease.acts > 0;
	return leases_write_more(ls, &p->lease, why);
}

int
plan_made_nodes(struct plan *p, struct leases *ls, struct why *why)
{
	const struct device_view view = view_for(p, ls);

	if (concern_read_nodes(p, ls, why) == -1)
		return -1;
	p->edits.nodes = p->edits.gids = 0;
	return each_node(p, &view, device_add, why) == -1 ? -1 : leases_write_more(ls, &p->lease, why);
}

int
plan_gpus(struct plan *p, struct leases *ls, struct why *why)
{
	const struct request *r = p->ruling->call->request;
	struct lease *l = &p->lease;

	return add_driver_files(p, why) == -1 || ways_note_driver(&p->edits, l, why) == -1 ||
	    ways_check_claim(l, l->uid, why) == -1 || ways_admit(ls, l, why) == -1 ||
	    renumber(p, GPU_NVIDIA, r->cuda_visible, "CUDA_VISIBLE_DEVICES", why) == -1 ||
	    renumber(p, GPU_AMD, r->rocr_visible, "ROCR_VISIBLE_DEVICES", why) == -1 ||
	    plan_nodes(p, ls, why) == -1 ? -1 : add_vendor_env(p, why);
}
