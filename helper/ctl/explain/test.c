/*
 * gpuhelperctl test: asks the policies about each request in a file, with the code of explain, and compares the answers
 * with the expected ones.  Tests the policies, not this host: explain and check report missing folders.  With
 * --devices, ignores this host's GPUs too.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../../base/cleanup.h"
#include "../../policy/faultsrefuse.h"
#include "devicesjson.h"
#include "inquiry.h"
#include "policytest.h"

struct run {
	const struct options *options;
	const struct config *config;
	const struct inventory *seen;	/* NULL: this host's GPUs */
	const char *file;
	json_t *results;
	bool *used;			/* for each policy: a test passed because it grants */
	size_t passed, failed;
};

/* Appends the differences between the grant and the expected one. */
static void
compare_given(const struct policy_test *t, const struct grant *g, struct buf *b)
{
	autostrlist struct strlist got = { 0 };
	autofree char *shown = NULL;
	unsigned gpus = 0;
	size_t i;

	for (i = 0; i < g->gpus; i++)
		gpus += g->gpu[i].count;
	if (t->has_gpus && gpus != t->given_gpus)
		buf_printf(b, "%s%u GPUs instead of %u", b->len > 0 ? ", " : "", gpus, t->given_gpus);
	for (i = 0; t->has_folders && i < g->folders; i++) {
		free(shown);
		if (asprintf(&shown, "%s:%s", g->folder[i].path, g->folder[i].writable ? "rw" : "ro") == -1) {
			shown = NULL;
			b->failed = true;
			return;
		}
		b->failed = !strlist_add(&got, shown, SIZE_MAX) || b->failed;
		if (!strlist_has(&t->given_folders, shown))
			buf_printf(b, "%sunexpected folder %s", b->len > 0 ? ", " : "", shown);
	}
	for (i = 0; i < t->given_folders.n; i++)
		if (!strlist_has(&got, t->given_folders.v[i]))
			buf_printf(b, "%sno folder %s", b->len > 0 ? ", " : "", t->given_folders.v[i]);
}

/* Appends how the answer differs from the expected one; nothing if it does not. */
static void
compare_outcome(const struct policy_test *t, const struct inquiry *q, struct buf *b)
{
	static const char *const names[] = {
		[OUTCOME_GRANTED] = "granted", [OUTCOME_REFUSED] = "refused", [OUTCOME_PLAIN] = "plain" };
	const char *by = q->outcome == OUTCOME_GRANTED ? q->decision.policy->name : NULL;
	autobuf struct buf given = { 0 };

	if (q->outcome != (enum outcome)t->expect) {
		buf_printf(b, "expected %s, got %s", names[t->expect], names[q->outcome]);
		buf_printf(b, by != NULL ? " by %s" : ": %s", by != NULL ? by : q->why.text);
		return;
	}
	if (t->policy != NULL && strcmp(t->policy, by) != 0)
		buf_printf(b, "expected a grant by %s, got one by %s", t->policy, by);
	else if (t->reason != NULL && strstr(q->why.text, t->reason) == NULL)
		buf_printf(b, "expected a reason with \"%s\", got: %s", t->reason, q->why.text);
	else if (q->outcome == OUTCOME_GRANTED) {
		compare_given(t, &q->decision.grant, &given);
		if (given.len > 0 || given.failed)
			buf_printf(b, "%s grants %s", by, given.failed ? "(out of memory)" : given.p);
	}
}

static void
put_result(struct run *r, const struct policy_test *t, const char *fault)
{
	json_t *j;

	if (*fault == '\0')
		r->passed++;
	else
		r->failed++;
	if (r->options->json) {
		j = json_object();
		put_text(j, "name", t->name);
		json_object_set_new(j, "line", json_integer(t->line));
		json_object_set_new(j, "passed", json_boolean(*fault == '\0'));
		if (*fault != '\0')
			put_text(j, "message", fault);
		json_array_append_new(r->results, j);
	} else if (*fault != '\0')
		say("%s:%u: %s: %s", r->file, t->line, t->name, fault);
	else if (r->options->verbose)
		say("%s:%u: %s: ok", r->file, t->line, t->name);
}

/* Asks the policies.  An error, such as an unknown user, always fails the test. */
static void
ask_test(struct inquiry *q, enum identity_kind kind, const struct policy_test *t, struct buf *fault)
{
	if (inquiry_client(q) == -1 || inquiry_request(q, kind) == -1) {
		buf_puts(fault, q->why.text);
		return;
	}
	q->request.spec.privileged = t->privileged;
	q->outcome = OUTCOME_REFUSED;
	(void)inquiry_decide(q, kind == IDENTITY_TOKEN);
	if (q->why.code == WHY_BUG || q->why.code == WHY_IO)
		buf_puts(fault, q->why.text);
	else
		compare_outcome(t, q, fault);
}

static void
run_test(struct run *r, const struct policy_test *t)
{
	const struct options o = { .config_dir = r->options->config_dir, .pipeline = t->pipeline, .job = t->job,
		.instance_vars = t->instance_vars, .claims = t->claims, .identity = t->identity, .issuer = t->issuer, .gpus = t->gpus,
		.folders = t->folders, .user = t->user != NULL ? t->user : "root" };
	struct inquiry q = { .options = &o, .config = r->config, .seen = r->seen, .bundle = { .dir = -1 },
		.identity = { .kind = IDENTITY_CALLER }, .now = time(NULL) };
	autobuf struct buf fault = { 0 };
	enum identity_kind kind;
	size_t i;

	(void)inquiry_kind(&o, &kind);	/* can't fail: the parser has checked the word */
	ask_test(&q, kind, t, &fault);
	put_result(r, t, fault.failed ? "out of memory" : fault.len > 0 ? fault.p : "");
	for (i = 0; fault.len == 0 && q.outcome == OUTCOME_GRANTED && i < r->config->policies.n; i++)
		if (&r->config->policies.v[i].policy == q.decision.policy)
			r->used[i] = true;
	inquiry_free(&q);
}

/* Policies that no passed test depends on. */
static json_t *
untested(const struct run *r)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < r->config->policies.n; i++)
		if (!r->used[i])
			json_array_append_new(list, json_string(r->config->policies.v[i].policy.name));
	return list;
}

static void
put_end(const struct run *r)
{
	json_t *rest = untested(r);
	const json_t *name;
	size_t i;

	if (r->options->json)
		put_out(json_pack("{s:b, s:I, s:I, s:O, s:O}", "ok", r->failed == 0, "passed", (json_int_t)r->passed, "failed",
		    (json_int_t)r->failed, "tests", r->results, "untested", rest));
	else {
		json_array_foreach(rest, i, name)
			say("note: no passed test has a grant by %s", json_string_value(name));
		say("%zu passed, %zu failed", r->passed, r->failed);
	}
	json_decref(rest);
}

static int
load_tests(const struct options *o, const char *shown, struct policy_tests *tests, struct why *why)
{
	autofaults struct faults faults = { 0 };
	autofree char *text = NULL;
	size_t len;

	if ((text = ctl_read_input(o->arg[0], CONF_MAX, &len, why)) == NULL)
		return -1;
	return policy_tests_parse(text, len, tests, &faults) ? 0 : faults_refuse(&faults, shown, why);
}

/* Reads all files before it runs the first test. */
static int
run_all(struct run *r, struct why *why)
{
	autopolicytests struct policy_tests tests = { 0 };
	autoconfig struct config config = { 0 };
	struct inventory seen = { 0 };
	size_t i;
	int ret = load_tests(r->options, r->file, &tests, why);

	if (ret == 0)
		ret = config_load(r->options, &config, why);
	if (ret == 0 && r->options->devices_file != NULL)
		ret = devices_load(r->options->devices_file, &seen, why);
	if (ret == 0 && (r->used = calloc(config.policies.n + 1, sizeof(*r->used))) == NULL)
		ret = refuse_nomem(why);
	r->config = &config;
	r->seen = r->options->devices_file != NULL ? &seen : NULL;
	for (i = 0; ret == 0 && i < tests.n; i++)
		run_test(r, &tests.v[i]);
	if (ret == 0)
		put_end(r);
	inventory_free(&seen);
	free(r->used);
	return ret;
}

int
ctl_test(const struct options *o)
{
	struct run r = { .options = o, .file = strcmp(o->arg[0], "-") == 0 ? "standard input" : o->arg[0] };
	struct why why;
	int ret;

	/* the answers must not depend on our environment */
	(void)unsetenv("CUDA_VISIBLE_DEVICES");
	(void)unsetenv("ROCR_VISIBLE_DEVICES");
	r.results = json_array();
	ret = run_all(&r, &why);
	json_decref(r.results);
	if (ret == -1)
		return give_up(o, &why);
	return r.failed == 0 ? 0 : WHY_DENIED;
}
