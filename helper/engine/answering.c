/* See answering.h. */
#include "answering.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../ask/driveredits.h"
#include "../base/cleanup.h"
#include "../gpu/extranode.h"
#include "../gpu/extraword.h"
#include "../gpu/procmask.h"
#include "../gpu/vendorenv.h"
#include "../host/driver/drivernodes.h"
#include "../lease/editsdriver.h"
#include "pickfor.h"

/* A policy may list words for hosts of several kinds. One for which this host has no node is noted, and no fault. */
static bool
note_unmatched_words(const struct driver_question *q, const struct extra_nodes *found, struct edits *out)
{
	unsigned unmatched = 0, bit;
	bool whole = true;
	size_t i;

	for (i = 0; i < q->grants; i++)
		unmatched |= q->granted[i].rule->nodes & ~found->words;
	for (bit = 1; bit <= unmatched && whole; bit <<= 1)
		if ((unmatched & bit) != 0)
			whole = edits_add_note(out, "the policy says nodes = [ \"%s\" ], and no usable CDI spec here has "
			    "such a node", extra_word_name(bit));
	return whole;
}

/* Tells a vendor's runtime, which runs after the wrapper, what was granted, so that it adds no more. */
static int
add_vendor_env(const struct driver_question *q, struct edits *out, struct why *why)
{
	struct vendor_grant granted[ENGINE_GPUS_MAX];
	size_t i;

	for (i = 0; i < q->grants; i++)
		granted[i] = (struct vendor_grant){ q->granted[i].gpu, q->granted[i].rule->capabilities };
	return q->settings->driver_files != DRIVER_FILES_VENDOR_RUNTIME ? 0 :
	    vendor_env(q->inventory, granted, q->grants, &out->env, why);
}

/* Hides the NVIDIA GPUs that are not granted: a container's /proc shows all GPUs of the host. */
static int
mask_others(const struct driver_question *q, struct edits *out, struct why *why)
{
	const struct gpu *granted[ENGINE_GPUS_MAX];
	size_t i;

	for (i = 0; i < q->grants; i++)
		granted[i] = q->granted[i].gpu;
	return procmask_others(q->inventory, granted, q->grants, &out->masked) ? 0 : refuse_nomem(why);
}

static int
answer_nodes(const struct driver_question *q, struct extra_nodes *found, struct engine_answer *out)
{
	if (driver_nodes(q, found, &out->why) == -1)
		return -1;
	if ((out->node = calloc(found->n + 1, sizeof(*out->node))) == NULL)
		return refuse_nomem(&out->why);
	memcpy(out->node, found->v, found->n * sizeof(*out->node));
	out->nodes = found->n;
	return 0;
}

/*
 * A workload manager's variable numbers the GPUs of the host. The container sees only its own GPUs, so the variable
 * must name all of these: 0, 1, and so on.
 */
static int
renumber(const struct driver_question *q, enum gpu_vendor vendor, bool bound, const char *variable, struct strlist *env,
    struct why *why)
{
	autobuf struct buf b = { 0 };
	unsigned n = 0;
	size_t i;

	if (!bound || !q->settings->respect_allocation)
		return 0;
	buf_printf(&b, "%s=", variable);
	for (i = 0; i < q->grants; i++)
		if (q->granted[i].gpu->vendor == vendor) {
			buf_printf(&b, n > 0 ? ",%u" : "%u", n);
			n++;
		}
	return b.failed || !strlist_add(env, b.p, SIZE_MAX) ? refuse_nomem(why) : 0;
}

/* The variables that depend on which GPUs were picked. A promise's task gets them when it takes its GPUs. */
static int
picks_env(const struct engine_query *a, const struct driver_question *q, struct strlist *env, struct why *why)
{
	return !a->picks && a->grants > 0 ? 0 :
	    renumber(q, GPU_NVIDIA, a->cuda_bound, "CUDA_VISIBLE_DEVICES", env, why) == -1 ? -1 :
	    renumber(q, GPU_AMD, a->rocr_bound, "ROCR_VISIBLE_DEVICES", env, why);
}

/* Overrides nothing: a variable that is there stays. */
static int
add_picks_env(const struct engine_query *a, const struct driver_question *q, struct edits *e, struct why *why)
{
	autostrlist struct strlist env = { 0 };
	size_t i;

	if (picks_env(a, q, &env, why) == -1)
		return -1;
	for (i = 0; i < env.n; i++)
		if (!edits_add_env(e, env.v[i]))
			return refuse_nomem(why);
	return 0;
}

/* The edits as the wrapper gets them, and for the helper what it must look at. */
static int
write_driver(struct edits *e, struct driver_edits *out, struct why *why)
{
	bool good = true;
	size_t i;

	edits_sort_mounts(e);
	for (i = 0; good && i < e->mounts; i++)
		good = strlist_add(&out->mounted, e->mount[i].source, SIZE_MAX);
	for (i = 0; good && i < e->hooks; i++)
		good = strlist_add(&out->run, e->hook[i].path, SIZE_MAX);
	return good && driver_edits_encode(e, out) ? 0 : refuse_nomem(why);
}

static int
answer_edits(const struct engine_query *a, const struct driver_question *q, struct engine_answer *out)
{
	autocontaineredits struct edits e = { 0 };
	struct extra_nodes found = { .n = 0 };

	if (driver_files(q, &e, &out->driver.specs, &out->why) == -1 || answer_nodes(q, &found, out) == -1 ||
	    add_vendor_env(q, &e, &out->why) == -1 || mask_others(q, &e, &out->why) == -1)
		return -1;
	if (!note_unmatched_words(q, &found, &e))
		return refuse_nomem(&out->why);
	return driver_edits_check_folders(&e, a->folder, a->folders, &out->why) == -1 ||
	    add_picks_env(a, q, &e, &out->why) == -1 ? -1 : write_driver(&e, &out->driver, &out->why);
}

/* «GPU 0000:3b:00.0 (NVIDIA A100), exclusive, waited 38 s» */
static void
describe_picks(const struct engine_query *a, const struct driver_question *q, char out[ENGINE_LINE_MAX])
{
	autobuf struct buf b = { 0 };
	bool alone = true;
	char part[16];
	size_t i;

	buf_puts(&b, q->grants == 1 ? "GPU " : "GPUs ");
	for (i = 0; i < q->grants; i++) {
		gpu_part(q->inventory, q->granted[i].gpu, part);
		buf_printf(&b, "%s%s%s%s", i > 0 ? ", " : "", q->granted[i].gpu->pci, part[0] != '\0' ? " part " : "", part);
		if (q->granted[i].gpu->model[0] != '\0')
			buf_printf(&b, " (%s)", q->granted[i].gpu->model);
		alone = alone && q->granted[i].rule->sharing == SHARING_EXCLUSIVE;
	}
	buf_puts(&b, alone ? ", exclusive" : ", shared");
	if (a->pick.waited > 0)
		buf_printf(&b, ", waited %u s", a->pick.waited);
	snprintf(out, ENGINE_LINE_MAX, "%s", b.failed ? "" : b.p);
}

/* For a task, whose container has the driver's files already; or, without picks, for nodes that are to be looked at. */
static int
answer_task(const struct engine_query *a, const struct driver_question *q, struct engine_answer *out)
{
	struct extra_nodes found = { .n = 0 };

	if (answer_nodes(q, &found, out) == -1)
		return -1;
	if (!a->picks)
		return 0;
	describe_picks(a, q, out->line);
	return picks_env(a, q, &out->env, &out->why);
}

/* The decision has a copy of the inventory, with the GPUs of some vendors: the same places. */
static int
answer_about(const struct authorized *r, const struct host *h, const struct engine_query *a,
    const struct granted_index *v, size_t n, struct engine_answer *out)
{
	const struct decision *d = &r->decision;
	struct granted_gpu granted[ENGINE_GPUS_MAX];
	/* it picks none for a promise (root/grant/plangpus.c) */
	const struct driver_question q = { &h->specs, &h->inventory, &r->settings, granted, n,
		a->verb == ENGINE_EDITS && !a->picks };
	const struct gpu *g;
	size_t i;

	for (i = 0; i < n; i++) {
		g = host_gpu_at(&d->inventory, v[i].gpu) != NULL ? host_gpu_at(&h->inventory, v[i].gpu) : NULL;
		if (g == NULL || d->policy == NULL || v[i].rule >= d->policy->gpus)
			return refuse(&out->why, WHY_BUG, "gpuhelper-engine is asked about a GPU that it did not grant");
		granted[i] = (struct granted_gpu){ g, &d->policy->gpu[v[i].rule] };
	}
	return a->verb == ENGINE_EDITS ? answer_edits(a, &q, out) : answer_task(a, &q, out);
}

/* The GPUs that were picked, and their rules. */
static int
answer_picked(const struct authorized *r, const struct host *h, const struct engine_query *a, struct engine_answer *out)
{
	const struct pick *p = out->pick.v;
	struct granted_index v[GPUS_MAX];
	size_t i;

	_Static_assert(GPUS_MAX <= ENGINE_GPUS_MAX, "all picks can be asked about");
	for (i = 0; i < out->pick.n; i++)
		v[i] = (struct granted_index){ a->pick.from[p[i].demand].gpu[p[i].candidate],
			(uint32_t)(r->decision.grant.gpu[p[i].demand].rule - r->decision.policy->gpu) };
	return answer_about(r, h, a, v, out->pick.n, out);
}

int
answer_about_gpus(const struct authorized *r, const struct host *h, const struct engine_query *a,
    struct engine_answer *out)
{
	if (!a->picks)
		return answer_about(r, h, a, a->granted, a->grants, out);
	return pick_for_request(r, &a->pick, &out->pick, &out->why) == -1 ? -1 : answer_picked(r, h, a, out);
}
