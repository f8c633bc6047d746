/* See answering.h. */
#include "answering.h"

#include <stdlib.h>
#include <string.h>

#include "../base/cleanup.h"
#include "../gpu/extranode.h"
#include "../gpu/procmask.h"
#include "../gpu/vendorenv.h"
#include "../host/driver/cdigpus.h"
#include "../host/driver/drivernodes.h"
#include "../host/gpu/drivers.h"
#include "../host/own/exchange.h"

/* Specs. */

/* Makes files of the list. Those that gpuhelper-read's answer has get an empty text. */
static int
take_list(struct engine_specs *s, struct spec_files *out, struct why *why)
{
	size_t i;

	*out = (struct spec_files){ .v = calloc(s->n + 1, sizeof(*out->v)), .problems = s->problems };
	s->problems = (struct strlist){ .n = 0 };
	if (out->v == NULL)
		return refuse_nomem(why);
	out->n = s->n;
	for (i = 0; i < s->n; i++) {
		out->v[i] = (struct spec_file){ .path = s->v[i].path, .dir = s->v[i].dir, .problems = s->v[i].problems };
		s->v[i] = (struct engine_spec){ .path = NULL, .read = s->v[i].read };
		if (s->v[i].read && (out->v[i].text = strdup("")) == NULL)
			return refuse_nomem(why);
	}
	return 0;
}

int
answering_load_specs(struct answering *e, const char *question, size_t len, bool *malformed, struct why *why)
{
	autospecfiles struct spec_files files = { 0 };
	struct engine_specs list;
	const char *answer;
	size_t size;
	int ret = -1;

	if (!engine_specs_unpack(question, len, &list, &answer, &size))
		refuse(why, WHY_BUG, "gpuhelper-engine can't read the question about CDI specs");
	else if (take_list(&list, &files, why) == 0 && cdi_registry_adopt(&e->specs, &files, why) == 0 &&
	    (e->specs.files == 0 || exchange_read_specs(answer, size, &e->specs, malformed, why) == 0) &&
	    cdi_registry_finish(&e->specs, true, why) == 0)
		ret = 0;
	engine_specs_free(&list);
	e->has_specs = ret == 0;
	return ret;
}

/* Names. */

static int
name_gpus(struct answering *e, struct engine_ask *a, struct engine_answer *out)
{
	struct inventory *inv = &e->inventory, *names = &out->names;
	size_t i;

	*inv = a->inventory;
	a->inventory = (struct inventory){ .gpus = 0 };
	if (drivers_read(inv, &out->why) == -1 || cdigpus_name(&e->specs, inv, &out->why) == -1)
		return -1;
	if ((names->gpu = calloc(inv->gpus + 1, sizeof(*names->gpu))) == NULL)
		return refuse_nomem(&out->why);
	names->gpus = inv->gpus;
	for (i = 0; i < inv->gpus; i++)
		if (!strlist_append(&names->gpu[i].cdi, &inv->gpu[i].cdi))
			return refuse_nomem(&out->why);
	e->has_names = strlist_append(&names->cdi_problem, &inv->cdi_problem) &&
	    strlist_append(&names->cdi_problem_kind, &inv->cdi_problem_kind) &&
	    strlist_append(&names->cdi_others, &inv->cdi_others);
	return e->has_names ? 0 : refuse_nomem(&out->why);
}

/* Nodes and edits. */

/* A policy may list words for hosts of several kinds: one that finds no node here is told, but not refused. */
static bool
note_idle_words(const struct driver_question *q, const struct driver_nodes *found, struct edits *out)
{
	unsigned idle = 0, bit;
	bool whole = true;
	size_t i;

	for (i = 0; i < q->wants; i++)
		idle |= q->want[i].rule->nodes & ~found->words;
	for (bit = 1; bit <= idle && whole; bit <<= 1)
		if ((idle & bit) != 0)
			whole = edits_add_note(out, "the policy says nodes = [ \"%s\" ], and no usable CDI spec here has "
			    "such a node", extra_word_name(bit));
	return whole;
}

/* Tells a vendor's runtime, which runs after the wrapper, what was granted, so that it adds no more. */
static int
add_vendor_env(const struct driver_question *q, struct edits *out, struct why *why)
{
	struct vendor_grant granted[ENGINE_WANTS_MAX];
	size_t i;

	for (i = 0; i < q->wants; i++)
		granted[i] = (struct vendor_grant){ q->want[i].gpu, q->want[i].rule->capabilities };
	return q->settings->driver_files != DRIVER_FILES_VENDOR_RUNTIME ? 0 :
	    vendor_env(q->inventory, granted, q->wants, &out->env, why);
}

/* Hides the NVIDIA GPUs that are not granted: a container's /proc shows all GPUs of the host. */
static int
mask_others(const struct driver_question *q, struct edits *out, struct why *why)
{
	const struct gpu *granted[ENGINE_WANTS_MAX];
	size_t i;

	for (i = 0; i < q->wants; i++)
		granted[i] = q->want[i].gpu;
	return procmask_others(q->inventory, granted, q->wants, &out->masked) ? 0 : refuse_nomem(why);
}

static int
answer_nodes(const struct driver_question *q, struct driver_nodes *found, struct engine_answer *out)
{
	if (driver_nodes(q, found, &out->why) == -1)
		return -1;
	if ((out->node = calloc(found->n + 1, sizeof(*out->node))) == NULL)
		return refuse_nomem(&out->why);
	memcpy(out->node, found->v, found->n * sizeof(*out->node));
	out->nodes = found->n;
	return 0;
}

static int
answer_edits(const struct driver_question *q, struct engine_answer *out)
{
	struct driver_nodes found = { .n = 0 };

	if (driver_files(q, &out->edits, &out->specs, &out->why) == -1 || answer_nodes(q, &found, out) == -1 ||
	    add_vendor_env(q, &out->edits, &out->why) == -1 || mask_others(q, &out->edits, &out->why) == -1)
		return -1;
	return note_idle_words(q, &found, &out->edits) ? 0 : refuse_nomem(&out->why);
}

/* Answers about some of the GPUs. */
static int
answer_wants(const struct answering *e, const struct engine_ask *a, struct engine_answer *out)
{
	const struct settings s = { .driver_files = a->driver_files, .cdi_hooks = a->cdi_hooks };
	struct driver_want want[ENGINE_WANTS_MAX];
	const struct driver_question q = { &e->specs, &e->inventory, &s, want, a->wants };
	struct driver_nodes found = { .n = 0 };
	size_t i;

	for (i = 0; i < a->wants; i++) {
		if (a->want[i].gpu >= e->inventory.gpus)
			return refuse(&out->why, WHY_BUG, "gpuhelper-engine is asked about a GPU that it was not told of");
		want[i] = (struct driver_want){ &e->inventory.gpu[a->want[i].gpu], &a->want[i].rule };
	}
	return a->verb == ENGINE_EDITS ? answer_edits(&q, out) : answer_nodes(&q, &found, out);
}

int
answer_questions(struct answering *e, struct engine_ask *a, struct engine_answer *out)
{
	if (a->verb == ENGINE_SPECS || !e->has_specs || (a->verb == ENGINE_NAMES) == e->has_names)
		return refuse(&out->why, WHY_BUG, "gpuhelper-engine is asked in the wrong order");
	return a->verb == ENGINE_NAMES ? name_gpus(e, a, out) : answer_wants(e, a, out);
}
