/*
 * See engine.h. Parses only the lines of the answers (ask/engineask.h). What an answer says is at most wrong: the reply
 * contains it, and the wrapper has no more rights than its caller, or checks it (vet/vet.h).
 */
#include "engine.h"

#include <stdlib.h>
#include <string.h>

#include "../../ask/engineask.h"
#include "../../base/cleanup.h"
#include "../../base/path.h"
#include "../../base/times.h"
#include "../self/spawn.h"
#include "extraadd.h"
#include "reader.h"

#define PROGRAM "gpuhelper-engine"
#define NAMES_MS 4000	/* an answer takes milliseconds, unless the machine is busy; no lock is held */

/* it moves along: whoever could freeze it could delay its answers while a lock is held */
static struct spawned engine = { PROGRAM, true, ENGINE_SPECS_MAX, ENGINE_ANSWER_MAX, .moves = true, .channel = -1 };
static const struct inventory *named;	/* the GPUs by whose indexes it is asked */

void
engine_start(void)
{
	spawned_start(&engine);
}

void
engine_execute(void)
{
	spawned_execute(&engine);
}

void
engine_end(void)
{
	spawned_end(&engine);
}

/* Waits for an answer, and checks it. engine_answer_free() in any case. */
static int
receive_from_engine(enum engine_verb verb, size_t gpus, int ms, struct engine_answer *out, struct why *why)
{
	size_t len;
	autofree char *bytes = spawned_receive(&engine, ms, &len, why);
	struct lines t;

	if (bytes == NULL)
		return -1;
	t = (struct lines){ .at = bytes, .end = bytes + len };
	engine_answer_lines(&t, verb, gpus, out);
	if (out->other_version)
		return refuse(why, WHY_CONFIG, "gpuhelper and " PROGRAM " differ in version: install both again (make install)");
	if (!lines_finish(&t))
		return t.nomem ? refuse_nomem(why) : refuse(why, WHY_BUG, PROGRAM " sent a malformed answer");
	/* refuse() keeps its text on one line */
	return out->why.code == WHY_NONE ? engine_answer_check(out, why) : refuse(why, out->why.code, "%s", out->why.text);
}

static int
ask_engine(struct engine_ask *a, size_t gpus, int ms, struct engine_answer *out, struct why *why)
{
	autobuf struct buf b = { 0 };
	struct lines t = { .out = &b };

	engine_ask_lines(&t, a);
	if (!lines_finish(&t))
		return refuse_nomem(why);
	return spawned_ask(&engine, b.p, b.len, why) == -1 ? -1 : receive_from_engine(a->verb, gpus, ms, out, why);
}

/* What specs there are: their texts stay here. */
static int
fill_list(const struct spec_files *f, struct engine_specs *out, struct why *why)
{
	size_t i;

	*out = (struct engine_specs){ .v = calloc(f->n + 1, sizeof(*out->v)), .n = f->n, .problems = f->problems };
	if (out->v == NULL)
		return refuse_nomem(why);
	for (i = 0; i < f->n; i++)
		out->v[i] = (struct engine_spec){ f->v[i].path, (uint32_t)f->v[i].dir, f->v[i].text != NULL, f->v[i].problems };
	return 0;
}

int
engine_send_specs(struct why *why)
{
	autospecfiles struct spec_files files = { 0 };
	struct engine_specs list;
	autofree struct engine_spec *entry = NULL;
	autofree char *question = NULL;
	const char *answer;
	size_t len, size;

	if (reader_ask_specs(&files, &answer, &len, why) == -1 || fill_list(&files, &list, why) == -1)
		return -1;
	entry = list.v;
	if ((question = engine_specs_pack(&list, answer, len, &size)) == NULL)
		return refuse_nomem(why);
	return spawned_ask(&engine, question, size, why);
}

/* Hears whether it could read the specs. */
static int
send_specs_once(struct why *why)
{
	autoengineanswer struct engine_answer a = { .nodes = 0 };

	if (receive_from_engine(ENGINE_SPECS, 0, NAMES_MS, &a, why) == -1)
		return a.malformed ? reader_drop_specs(why) : -1;
	reader_cache_specs();
	return 0;
}

int
engine_ask_names(struct inventory *inv, struct why *why)
{
	struct engine_ask a = { .verb = ENGINE_NAMES, .inventory = *inv };
	autoengineanswer struct engine_answer answer = { .nodes = 0 };
	size_t i;

	if (send_specs_once(why) == -1 || ask_engine(&a, inv->gpus, NAMES_MS, &answer, why) == -1)
		return -1;
	for (i = 0; i < inv->gpus; i++) {
		inv->gpu[i].cdi = answer.names.gpu[i].cdi;
		answer.names.gpu[i].cdi = (struct strlist){ .n = 0 };
	}
	inv->cdi_problem = answer.names.cdi_problem;
	inv->cdi_problem_kind = answer.names.cdi_problem_kind;
	inv->cdi_others = answer.names.cdi_others;
	answer.names.cdi_problem = answer.names.cdi_problem_kind = answer.names.cdi_others = (struct strlist){ .n = 0 };
	named = inv;
	return 0;
}

/* A decision has a copy of the inventory, with the GPUs of some vendors. */
static uint32_t
index_of(const struct gpu *g)
{
	const struct gpu *o = named->gpu;

	while (o < named->gpu + named->gpus && !(o->vendor == g->vendor && strcmp(o->pci, g->pci) == 0 &&
	    o->partition == g->partition && strcmp(o->part, g->part) == 0))
		o++;
	return (uint32_t)(o - named->gpu);
}

/* Asks about these GPUs, and takes the extra nodes of the answer. */
static int
ask_about(struct engine_ask *a, const struct inventory *inv, const struct driver_want *want, size_t n,
    struct driver_nodes *out, struct engine_answer *answer, struct why *why)
{
	autofree struct engine_want *v = calloc(n + 1, sizeof(*v));
	size_t i;
	int ret;

	if ((a->want = v) == NULL)
		return refuse_nomem(why);
	for (i = 0; i < n; i++)
		v[i] = (struct engine_want){ index_of(want[i].gpu), *want[i].rule };
	a->wants = n;
	ret = ask_engine(a, 0, ENGINE_MS, answer, why);
	for (i = 0; ret == 0 && i < answer->nodes; i++)
		ret = extra_add(inv, want, n, &answer->node[i], out, why);
	return ret;
}

int
engine_ask_nodes(const struct inventory *inv, const struct driver_want *want, size_t n, struct driver_nodes *out,
    struct why *why)
{
	struct engine_ask a = { .verb = ENGINE_NODES };
	autoengineanswer struct engine_answer answer = { .nodes = 0 };
	bool any = false;
	size_t i;

	*out = (struct driver_nodes){ .n = 0 };
	for (i = 0; i < n; i++)
		any = any || want[i].rule->kind != NULL;
	return any ? ask_about(&a, inv, want, n, out, &answer, why) : 0;
}

/* Takes the mount over, unless a folder is there. */
static int
take_mount(struct edit_mount *m, size_t folders, struct edits *e, struct why *why)
{
	size_t i;

	for (i = 0; i < folders; i++)
		if (path_related(e->mount[i].target, m->target))
			return refuse(why, WHY_CONFIG, "the driver's %s is mounted at %s, where folder %s is", m->source, m->target,
			    e->mount[i].source);
	m->sum = target_sum(m->target);
	e->mount[e->mounts++] = *m;
	*m = (struct edit_mount){ .source = NULL };
	return 0;
}

/* What gpuhelper.conf does not allow is no answer, whatever the specs say. */
static int
check_allowed(const struct settings *s, const struct edits *e, struct why *why)
{
	const bool files = s->driver_files == DRIVER_FILES_AUTO || s->driver_files == DRIVER_FILES_CDI;

	if ((e->hooks == 0 || (files && s->cdi_hooks)) && (e->mounts == 0 || files) &&
	    (e->env.n == 0 || s->driver_files != DRIVER_FILES_NONE))
		return 0;
	return refuse(why, WHY_BUG, PROGRAM " reports files, hooks or variables that gpuhelper.conf does not allow");
}

/* Overrides nothing: a variable that is there stays. */
static int
take_edits(struct edits *from, struct edits *e, struct why *why)
{
	const size_t folders = e->mounts;
	struct edit_mount *v = reallocarray(e->mount, folders + from->mounts + 1, sizeof(*v));
	size_t i;

	if (v == NULL)
		return refuse_nomem(why);
	e->mount = v;
	for (i = 0; i < from->mounts; i++)
		if (take_mount(&from->mount[i], folders, e, why) == -1)
			return -1;
	for (i = 0; i < from->env.n; i++)
		if (!edits_add_env(e, from->env.v[i]))
			return refuse_nomem(why);
	for (i = 0; i < from->notes.n; i++)
		if (!edits_add_note(e, "%s", from->notes.v[i]))
			return refuse_nomem(why);
	e->hook = from->hook;
	e->hooks = from->hooks;
	e->masked = from->masked;
	from->hook = NULL;
	from->hooks = 0;
	from->masked = (struct strlist){ .n = 0 };
	return 0;
}

int
engine_ask_edits(const struct inventory *inv, const struct driver_want *want, size_t n, const struct settings *s,
    struct driver_nodes *out, struct edits *e, struct strlist *specs, struct why *why)
{
	struct engine_ask a = { .verb = ENGINE_EDITS, .driver_files = s->driver_files, .cdi_hooks = s->cdi_hooks };
	autoengineanswer struct engine_answer answer = { .nodes = 0 };

	*out = (struct driver_nodes){ .n = 0 };
	/* the host's GPUs were not looked for */
	if (named == NULL)
		return 0;
	if (ask_about(&a, inv, want, n, out, &answer, why) == -1 || check_allowed(s, &answer.edits, why) == -1 ||
	    take_edits(&answer.edits, e, why) == -1)
		return -1;
	*specs = answer.specs;
	answer.specs = (struct strlist){ .n = 0 };
	return 0;
}
