/* See policytest.h.  The file has the syntax of a policy file (read/conf/conf.h). */
#include "policytest.h"

#include <stdlib.h>
#include <string.h>

#include "../../base/cleanup.h"
#include "../../read/conf/conf.h"
#include "../../read/conf/confjson.h"
#include "../pipelinename.h"
#include "inquiry.h"

#define TESTS_MAX 2048

static void
read_test_name(config_setting_t *s, void *out, struct faults *f)
{
	conf_string(s, &((struct policy_test *)out)->name, f);
}

static void
read_test_pipeline(config_setting_t *s, void *out, struct faults *f)
{
	struct policy_test *t = out;

	conf_string(s, &t->pipeline, f);
	if (t->pipeline != NULL && !pipeline_name_is_whole(t->pipeline))
		fault_add(f, conf_line(s), false, "pipeline must be \"TEAM/PIPELINE\", not \"%s\"", t->pipeline);
}

static void
read_test_job(config_setting_t *s, void *out, struct faults *f)
{
	conf_string(s, &((struct policy_test *)out)->job, f);
}

static void
read_test_instance_vars(config_setting_t *s, void *out, struct faults *f)
{
	struct policy_test *t = out;
	json_t *vars;

	if (config_setting_type(s) != CONFIG_TYPE_GROUP) {
		fault_add(f, conf_line(s), false, "instance_vars must be a group: { name = value; ... }");
		return;
	}
	free(t->instance_vars);
	vars = conf_json(s, f);
	if ((t->instance_vars = vars != NULL ? json_dumps(vars, JSON_COMPACT) : NULL) == NULL)
		fault_add(f, conf_line(s), false, "out of memory");
	json_decref(vars);
}

/* The second form, for names that libconfig does not know: ( { claim = "NAME"; value = ...; }, ... ). */
static json_t *
named_claims(config_setting_t *s, struct faults *f)
{
	json_t *object = json_object(), *entry;
	const char *name;
	int i;

	for (i = 0; i < config_setting_length(s); i++) {
		entry = conf_json(config_setting_get_elem(s, (unsigned)i), f);
		name = json_string_value(json_object_get(entry, "claim"));
		if (json_object_set(object, name, json_object_get(entry, "value")) == -1)
			fault_add(f, conf_line(s), false, "an entry of claims needs claim and value");
		json_decref(entry);
	}
	return object;
}

static void
read_test_claims(config_setting_t *s, void *out, struct faults *f)
{
	struct policy_test *t = out;
	const int type = config_setting_type(s);
	json_t *claims;

	if (type != CONFIG_TYPE_GROUP && type != CONFIG_TYPE_LIST) {
		fault_add(f, conf_line(s), false, "claims must be a group: { name = value; ... }");
		return;
	}
	free(t->claims);
	claims = type == CONFIG_TYPE_GROUP ? conf_json(s, f) : named_claims(s, f);
	if ((t->claims = claims != NULL ? json_dumps(claims, JSON_COMPACT) : NULL) == NULL)
		fault_add(f, conf_line(s), false, "out of memory");
	json_decref(claims);
}

static void
read_test_identity(config_setting_t *s, void *out, struct faults *f)
{
	static const char *const words[] = { "token", "claim", "caller", NULL };
	unsigned ignored;

	conf_word(s, words, &ignored, f);
	conf_string(s, &((struct policy_test *)out)->identity, f);
}

static void
read_test_issuer(config_setting_t *s, void *out, struct faults *f)
{
	conf_string(s, &((struct policy_test *)out)->issuer, f);
}

static void
read_requested_gpus(config_setting_t *s, void *out, struct faults *f)
{
	conf_string(s, &((struct policy_test *)out)->gpus, f);
}

static void
read_requested_folders(config_setting_t *s, void *out, struct faults *f)
{
	conf_string(s, &((struct policy_test *)out)->folders, f);
}

static void
read_test_user(config_setting_t *s, void *out, struct faults *f)
{
	conf_string(s, &((struct policy_test *)out)->user, f);
}

static void
read_test_privileged(config_setting_t *s, void *out, struct faults *f)
{
	conf_bool(s, &((struct policy_test *)out)->privileged, f);
}

static void
read_expect(config_setting_t *s, void *out, struct faults *f)
{
	static const char *const words[] = {
		[OUTCOME_GRANTED] = "granted", [OUTCOME_REFUSED] = "refused", [OUTCOME_PLAIN] = "plain", NULL };

	conf_word(s, words, &((struct policy_test *)out)->expect, f);
}

static void
read_policy(config_setting_t *s, void *out, struct faults *f)
{
	conf_string(s, &((struct policy_test *)out)->policy, f);
}

static void
read_reason(config_setting_t *s, void *out, struct faults *f)
{
	conf_string(s, &((struct policy_test *)out)->reason, f);
}

static void
read_given_gpus(config_setting_t *s, void *out, struct faults *f)
{
	struct policy_test *t = out;

	t->has_gpus = true;
	conf_number(s, 0, 4096, &t->given_gpus, f);
}

static void
read_given_folders(config_setting_t *s, void *out, struct faults *f)
{
	struct policy_test *t = out;
	const char *end;
	size_t i;

	t->has_folders = true;
	if (!conf_strings(s, &t->given_folders, f))
		return;
	for (i = 0; i < t->given_folders.n; i++)
		if ((end = strrchr(t->given_folders.v[i], ':')) == NULL || (strcmp(end, ":ro") != 0 && strcmp(end, ":rw") != 0))
			fault_add(f, conf_line(s), false, "folders of «given» must be \"PATH:ro\" or \"PATH:rw\", not \"%s\"",
			    t->given_folders.v[i]);
}

static void
read_given(config_setting_t *s, void *out, struct faults *f)
{
	static const struct conf_key keys[] = { { "gpus", read_given_gpus }, { "folders", read_given_folders },
		{ NULL, NULL } };

	conf_group(s, keys, out, f);
}

static const struct conf_key test_keys[] = {
	{ "name", read_test_name },
	{ "pipeline", read_test_pipeline },
	{ "job", read_test_job },
	{ "instance_vars", read_test_instance_vars },
	{ "claims", read_test_claims },
	{ "identity", read_test_identity },
	{ "issuer", read_test_issuer },
	{ "privileged", read_test_privileged },
	{ "gpus", read_requested_gpus },
	{ "folders", read_requested_folders },
	{ "user", read_test_user },
	{ "expect", read_expect },
	{ "policy", read_policy },
	{ "reason", read_reason },
	{ "given", read_given },
	{ NULL, NULL },
};

static void
read_test(config_setting_t *s, struct policy_test *t, struct faults *f)
{
	uint32_t there;

	t->line = conf_line(s);
	there = conf_group(s, test_keys, t, f);
	if (!conf_there(test_keys, there, "name") || !conf_there(test_keys, there, "expect"))
		fault_add(f, t->line, false, "a test needs name and expect");
	else if (!conf_there(test_keys, there, "pipeline") && (t->identity == NULL || strcmp(t->identity, "caller") != 0))
		fault_add(f, t->line, false, "a test needs a pipeline, or identity = \"caller\"");
	else if (t->expect != OUTCOME_GRANTED && (t->policy != NULL || t->has_gpus || t->has_folders))
		fault_add(f, t->line, false, "policy and given need expect = \"granted\"");
	else if (t->expect == OUTCOME_GRANTED && t->reason != NULL)
		fault_add(f, t->line, false, "reason needs expect = \"refused\" or \"plain\"");
}

static void
read_tests(config_setting_t *s, void *out, struct faults *f)
{
	struct policy_tests *t = out;
	int i, n = config_setting_length(s);

	if (!conf_groups(s, TESTS_MAX, f))
		return;
	if ((t->v = calloc((size_t)n + 1, sizeof(*t->v))) == NULL) {
		fault_add(f, conf_line(s), false, "out of memory");
		return;
	}
	for (i = 0; i < n; i++)
		read_test(config_setting_get_elem(s, (unsigned)i), &t->v[t->n++], f);
}

bool
policy_tests_parse(const char *text, size_t len, struct policy_tests *out, struct faults *f)
{
	static const struct conf_key keys[] = { { "tests", read_tests }, { NULL, NULL } };
	config_t cfg;

	if (conf_parse(&cfg, text, len, f)) {
		conf_group(config_root_setting(&cfg), keys, out, f);
		/* an empty file must not count as passed */
		if (out->n == 0 && f->errors == 0)
			fault_add(f, 0, false, "has no tests; the form is tests = ( { name = ...; }, ... );");
	}
	config_destroy(&cfg);
	return f->errors == 0;
}

void
policy_tests_free(struct policy_tests *t)
{
	struct policy_test *p;

	for (p = t->v; p < t->v + t->n; p++) {
		char *const own[] = { p->name, p->pipeline, p->job, p->instance_vars, p->claims, p->identity, p->issuer, p->gpus,
			p->folders, p->user, p->policy, p->reason };
		size_t i;

		for (i = 0; i < sizeof(own) / sizeof(own[0]); i++)
			free(own[i]);
		strlist_free(&p->given_folders);
	}
	free(t->v);
	*t = (struct policy_tests){ 0 };
}
