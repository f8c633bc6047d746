/*
 * See engine.h. Parses only the lines of the answers (ask/authzquery.h, ask/enginequery.h), and nothing that it passes
 * on, except the judge's report of the host's GPUs. What comes with a GPU is at most wrong: the reply contains it, and
 * the wrapper has no more rights than its caller, or checks it (vet/vet.h).
 */
#include "engine.h"

#include <stdlib.h>
#include <string.h>

#include "../../ask/enginequery.h"
#include "../../ask/judgepass.h"
#include "../../base/cleanup.h"
#include "../../base/times.h"
#include "../../gpu/knownnode.h"
#include "../../host/gpu/drivers.h"
#include "../self/spawn.h"
#include "extraadd.h"
#include "judge.h"
#include "reader.h"

#define PROGRAM "gpuhelper-engine"
#define AUTHZ_MS 4000	/* an answer takes milliseconds, unless the machine is busy; no lock is held */
#define QUESTIONS_MAX 4	/* for the judge: about the host, a token or variables, the request */

/* it moves along: whoever could freeze it could delay its answers while a lock is held */
static struct spawned engine = { PROGRAM, true, AUTHZ_QUERY_MAX + 1, ENGINE_SAYS_MAX, .moves = true, .channel = -1 };

void
engine_start(bool at_once)
{
	spawned_start(&engine);
	if (at_once)
		spawned_exec(&engine);
}

/* Messages. */

/* Sends a byte of enginequery.h, and these bytes. */
static int
send_to_engine(char kind, const char *bytes, size_t len, struct why *why)
{
	autobuf struct buf b = { 0 };
	int ret;

	buf_add(&b, &kind, 1);
	if (len > 0)
		buf_add(&b, bytes, len);
	if (b.failed)
		return refuse_nomem(why);
	ret = spawned_ask(&engine, b.p, b.len, why);
	/* a token may be in it */
	explicit_bzero(b.p, b.len);
	return ret;
}

/* NULL for «bytes»: sends the reason instead. */
static int
pass_on(const char *bytes, size_t len, const struct why *instead, struct why *why)
{
	autobuf struct buf b = { 0 };
	struct lines t = { .out = &b };
	struct why told = *instead;

	if (bytes != NULL)
		return send_to_engine(ENGINE_HEARS, bytes, len, why);
	lines_begin(&t, "why");
	why_fields(&t, &told);
	return lines_finish(&t) ? send_to_engine(ENGINE_HEARS_NOTHING, b.p, b.len, why) : refuse_nomem(why);
}

static int
refuse_malformed(struct why *why)
{
	return refuse(why, WHY_BUG, PROGRAM " sent a malformed answer");
}

/* Waits for a message. The caller frees the *len bytes, the first of which says what it is; NULL with *why. */
static char *
receive_message(int ms, size_t *len, struct why *why)
{
	char *bytes = spawned_receive(&engine, ms, len, why);

	if (bytes == NULL || *len > 0)
		return bytes;
	free(bytes);
	(void)refuse_malformed(why);
	return NULL;
}

/* Returns the result of reading the lines of an answer. */
static int
finish_answer(struct lines *t, bool other_version, struct why *why)
{
	if (other_version)
		return refuse(why, WHY_CONFIG, "gpuhelper and " PROGRAM " differ in version: install both again (make install)");
	return lines_finish(t) ? 0 : t->nomem ? refuse_nomem(why) : refuse_malformed(why);
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

/* NULL with *why: the specs can't be read. */
static char *
pack_specs_of_host(size_t *size, struct why *why)
{
	autospecfiles struct spec_files files = { 0 };
	autofree struct engine_spec *entry = NULL;
	autobuf struct buf b = { 0 };
	struct lines t = { .out = &b };
	struct engine_specs list;
	const char *answer;
	char *message = NULL;
	bool cached;
	size_t len;

	if (reader_ask_specs(&files, &answer, &len, &cached, why) == -1 || fill_list(&files, &list, why) == -1)
		return NULL;
	entry = list.v;
	list.cached = cached;
	engine_specs_lines(&t, &list);
	if (!lines_finish(&t) || (message = pack_with(&b, answer, len, size)) == NULL)
		(void)refuse_nomem(why);
	return message;
}

/*
 * The GPUs of the host, as gpuhelper-judge told of them before it heard any word of a stranger: only the first question
 * is about them, and gpuhelper-engine has no choice of its words. So neither a judge that is taken over later nor
 * gpuhelper-engine can forge them.
 */
static struct {
	bool asked;			/* the judge was asked something */
	struct inventory inventory;	/* empty if they are not known */
} host;

static void
hear_host(const char *answer, size_t len)
{
	struct inventory *inv = &host.inventory;
	struct why why;
	unsigned v;

	if (!judge_answer_host(answer, len, inv) || drivers_read(inv, &why) == -1)
		inventory_free(inv);
	for (v = 0; v < GPU_VENDORS; v++)
		if (inv->fault[v].code == WHY_NONE)
			(void)known_nodes_check(inv, (enum gpu_vendor)v, &inv->fault[v]);
}

static int
pass_specs(struct why *why)
{
	struct why unread = { 0 };
	size_t size = 0;
	autofree char *message = pack_specs_of_host(&size, &unread);

	return pass_on(message, size, &unread, why);
}

/* Passes a question to the judge, and the answer back. The judge looks while gpuhelper-engine reads the specs. */
static int
pass_to_judge(bool about_host, const char *question, size_t len, struct why *why)
{
	struct why silent = { 0 };
	autofree char *answer = NULL;
	size_t size = 0;
	int asked;

	if (about_host && (host.asked || !judge_ask_is_host(question, len)))
		return refuse_malformed(why);
	host.asked = true;
	asked = judge_pass(question, len, &silent);
	if (about_host && pass_specs(why) == -1)
		return -1;
	if (asked == 0)
		answer = judge_receive(about_host, &size, &silent);
	if (about_host && answer != NULL)
		hear_host(answer, size);
	return pass_on(answer, size, &silent, why);
}

/* Authorization. */

/* Serves its questions until it answers. The caller frees the *len bytes; NULL with *why. */
static char *
receive_authz(size_t *len, struct why *why)
{
	unsigned questions = 0;
	autofree char *bytes = NULL;
	char *message;

	engine.answer_max = ENGINE_SAYS_MAX;
	while ((bytes = receive_message(AUTHZ_MS, len, why)) != NULL && bytes[0] != ENGINE_ANSWERS) {
		if ((bytes[0] != ENGINE_ASKS && bytes[0] != ENGINE_ASKS_HOST) || ++questions > QUESTIONS_MAX) {
			(void)refuse_malformed(why);
			return NULL;
		}
		if (pass_to_judge(bytes[0] == ENGINE_ASKS_HOST, bytes + 1, *len - 1, why) == -1)
			return NULL;
		/* a token may be in it */
		explicit_bzero(bytes, *len);
		free(bytes);
	}
	if (bytes != NULL && *len > AUTHZ_ANSWER_MAX) {
		(void)refuse_malformed(why);
		return NULL;
	}
	message = bytes;
	bytes = NULL;
	return message;
}

int
engine_ask_authz(struct authz_query *a, const struct settings *s, const char *read, size_t len,
    struct authz_answer *out, struct why *why)
{
	size_t size;
	autofree char *question = authz_query_pack(a, read, len, &size), *answer = NULL;
	struct lines t;
	int ret;

	*out = (struct authz_answer){ .issuer = 0 };
	if (question == NULL)
		return refuse_nomem(why);
	ret = send_to_engine(ENGINE_TAKES_REQUEST, question, size, why);
	explicit_bzero(question, size);
	if (ret == -1 || (answer = receive_authz(&size, why)) == NULL)
		return -1;
	t = (struct lines){ .at = answer + 1, .end = answer + size };
	/* whatever an answer says, GPUs and their nodes are those that the judge told of */
	out->host = &host.inventory;
	authz_answer_lines(&t, out);
	if (finish_answer(&t, out->other_version, why) == -1)
		return -1;
	out->heard = true;
	/* refuse() keeps its text on one line */
	if (out->why.code != WHY_NONE)
		return refuse(why, out->why.code, "%s", out->why.text);
	return authz_answer_accept(out, a, s, why);
}

/* Nodes and edits. */

/* engine_answer_free() in any case. */
static int
ask_engine(struct engine_query *a, struct engine_answer *out, struct why *why)
{
	autobuf struct buf b = { 0 };
	struct lines t = { .out = &b };
	autofree char *answer = NULL;
	size_t len;

	engine_query_lines(&t, a);
	if (!lines_finish(&t))
		return refuse_nomem(why);
	engine.answer_max = ENGINE_ANSWER_MAX;
	if (send_to_engine(ENGINE_TAKES_GPUS, b.p, b.len, why) == -1 ||
	    (answer = receive_message(ENGINE_MS, &len, why)) == NULL)
		return -1;
	if (answer[0] != ENGINE_ANSWERS)
		return refuse_malformed(why);
	t = (struct lines){ .at = answer + 1, .end = answer + len };
	engine_answer_lines(&t, a->verb, a->picks, out);
	if (finish_answer(&t, out->other_version, why) == -1)
		return -1;
	out->heard = true;
	return out->why.code == WHY_NONE ? engine_answer_check(out, why) : refuse(why, out->why.code, "%s", out->why.text);
}

/* Asks about these GPUs. */
static int
ask_about(struct engine_query *a, const struct decision *d, const struct granted_gpu *granted, size_t n,
    struct engine_answer *answer, struct why *why)
{
	autofree struct granted_index *v = calloc(n + 1, sizeof(*v));
	size_t i;

	if ((a->granted = v) == NULL)
		return refuse_nomem(why);
	for (i = 0; i < n; i++)
		v[i] = (struct granted_index){ (uint32_t)(granted[i].gpu - d->inventory.gpu),
			(uint32_t)(granted[i].rule - d->policy->gpu) };
	a->grants = n;
	return ask_engine(a, answer, why);
}

/* What it must know of the container. The question only borrows that. */
static struct engine_query
query_for(enum engine_verb verb, const struct untrusted *w, const struct edits *e)
{
	return (struct engine_query){ .verb = verb, .cuda_bound = w->cuda_visible != NULL,
		.rocr_bound = w->rocr_visible != NULL, .folder = e->mount, .folders = e->mounts };
}

int
engine_ask_picks(bool for_task, const struct pick_query *pick, const struct untrusted *w, const struct edits *e,
    struct engine_answer *out, struct why *why)
{
	struct engine_query a = query_for(for_task ? ENGINE_NODES : ENGINE_EDITS, w, e);

	a.picks = true;
	a.pick = *pick;
	*out = (struct engine_answer){ .nodes = 0 };
	if (ask_engine(&a, out, why) == 0)
		return out->pick.picked ? 0 : refuse_malformed(why);
	if (!out->heard || !out->pick.picked)
		return out->heard ? 1 : -1;
	out->why = *why;
	return 0;
}

int
engine_ask_all(const struct decision *d, const struct granted_gpu *granted, size_t n, const struct untrusted *w,
    const struct edits *e, struct engine_answer *out, struct why *why)
{
	struct engine_query a = query_for(ENGINE_EDITS, w, e);

	*out = (struct engine_answer){ .nodes = 0 };
	return ask_about(&a, d, granted, n, out, why);
}

int
engine_take_nodes(const struct engine_answer *answer, const struct decision *d, const struct granted_gpu *granted,
    size_t n, struct extra_nodes *out, struct why *why)
{
	size_t i;

	*out = (struct extra_nodes){ .n = 0 };
	if (answer->why.code != WHY_NONE) {
		*why = answer->why;
		return -1;
	}
	for (i = 0; i < answer->nodes; i++)
		if (extra_add(&d->inventory, granted, n, &answer->node[i], out, why) == -1)
			return -1;
	return 0;
}

int
engine_ask_nodes(const struct decision *d, const struct granted_gpu *granted, size_t n, struct extra_nodes *out,
    struct why *why)
{
	struct engine_query a = { .verb = ENGINE_NODES };
	autoengineanswer struct engine_answer answer = { .nodes = 0 };
	bool any = false;
	size_t i;

	*out = (struct extra_nodes){ .n = 0 };
	for (i = 0; i < n; i++)
		any = any || granted[i].rule->kind != NULL;
	if (!any)
		return 0;
	return ask_about(&a, d, granted, n, &answer, why) == -1 ? -1 : engine_take_nodes(&answer, d, granted, n, out, why);
}

/* What gpuhelper.conf does not allow is no answer, whatever the specs say. */
static int
check_allowed(const struct settings *s, const struct driver_edits *d, struct why *why)
{
	const bool files = s->driver_files == DRIVER_FILES_AUTO || s->driver_files == DRIVER_FILES_CDI;

	return (files || d->mounted.n == 0) && ((files && s->cdi_hooks) || d->run.n == 0) ? 0 :
	    refuse(why, WHY_BUG, PROGRAM " reports files or hooks that gpuhelper.conf does not allow");
}

int
engine_take_edits(struct engine_answer *answer, const struct settings *s, struct driver_edits *out, struct why *why)
{
	if (check_allowed(s, &answer->driver, why) == -1)
		return -1;
	*out = answer->driver;
	answer->driver = (struct driver_edits){ 0 };
	return 0;
}
