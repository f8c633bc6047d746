/* See explain.h: prints the answer of gpuhelperctl explain, as text or as JSON. */
#include "../../policy/policydecide.h"
#include "explain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../base/cleanup.h"
#include "../../base/quoted.h"
#include "../../gpu/gpu.h"
#include "../../policy/varsjson.h"
#include "../worker/tasktakes.h"
#include "claimsjson.h"
#include "../../policy/gpurule.h"

/* What no answer considers. */
static const char *const unseen[] = {
	"leases (whether the GPUs are free or busy)",
	"access (whether the container's user may open the GPUs' nodes)",
	"SELinux (whether its policy lets the container use them)",
	NULL,
};

/* True if the file is broken, and so ended the search.  Such a file is always the last that was asked. */
static bool
is_wall(const struct inquiry *q, size_t i)
{
	return i + 1 == q->heard && q->decision.verdict != VERDICT_GRANT && q->outcome == OUTCOME_REFUSED &&
	    q->why.code == WHY_CONFIG;
}

/* Why the file did not grant; if the file is broken, its error. */
static const char *
said_why(const struct inquiry *q, size_t i)
{
	static const char until[] = "that file is broken: ";
	const char *why = q->said[i].why != NULL ? q->said[i].why : "", *at;

	return is_wall(q, i) && (at = strstr(why, until)) != NULL ? at + strlen(until) : why;
}

static const char *
outcome_name(const struct inquiry *q)
{
	static const char *const names[] = {
		[OUTCOME_GRANTED] = "granted", [OUTCOME_REFUSED] = "refused", [OUTCOME_PLAIN] = "plain" };

	return names[q->outcome];
}

static const char *
said_name(const struct inquiry *q, size_t i)
{
	if (i >= q->heard)
		return "not asked";
	if (is_wall(q, i))
		return "broken";
	if (q->said[i].verdict == VERDICT_GRANT)
		return "grants";
	return q->said[i].verdict == VERDICT_LACKS ? "lacks" : "other";
}

static const char *
check_name(enum token_check_result r)
{
	return r == TOKEN_CHECK_OK ? "ok" : r == TOKEN_CHECK_FAILED ? "fails" : "not checked";
}

/* JSON */

void
put_owner(json_t *object, const struct identity *id)
{
	put_text(object, "team", id->team);
	put_text(object, "pipeline", id->pipeline);
	put_text(object, "job", id->job);
	put_text(object, "issuer", id->issuer);
	if (id->instance_vars != NULL)
		json_object_set_new(object, "instance_vars", instance_vars_json(id->instance_vars));
	if (id->claims != NULL && id->claims->name.n > 0)
		json_object_set_new(object, "further_claims", claims_json(id->claims));
}

static json_t *
question_json(const struct inquiry *q)
{
	const struct request *r = &q->request;
	json_t *j = json_object();

	json_object_set_new(j, "uid", json_integer(q->client.uid));
	put_text(j, "user", q->client.user);
	json_object_set_new(j, "member", json_boolean(q->client.member));
	json_object_set_new(j, "device_cgroup", json_boolean(q->client.rootful));
	put_text(j, "identity", identity_name(q->identity.kind));
	put_owner(j, &q->identity);
	put_text(j, "gpus", r->untrusted.gpus);
	put_text(j, "folders", r->untrusted.folders);
	return j;
}

static json_t *
policies_json(const struct inquiry *q)
{
	json_t *list = json_array(), *j;
	size_t i;

	for (i = 0; i < q->config->policies.n; i++) {
		j = json_object();
		put_text(j, "file", q->config->policies.v[i].policy.name);
		put_text(j, "verdict", said_name(q, i));
		if (i < q->heard && q->said[i].verdict != VERDICT_GRANT)
			put_text(j, "reason", said_why(q, i));
		json_array_append_new(list, j);
	}
	return list;
}

static json_t *
candidate_json(const struct inventory *inv, const struct gpu *g)
{
	json_t *j = json_object();
	char part[16];

	json_object_set_new(j, "rank", json_integer(g->rank));
	put_text(j, "pci", g->pci);
	gpu_part(inv, g, part);
	put_text(j, "part", part);
	if (g->uuid[0] != '\0')
		put_text(j, "uuid", g->uuid);
	put_text(j, "model", g->model);
	return j;
}

static json_t *
want_json(const struct inventory *inv, const struct gpu_grant *w)
{
	const bool shared = w->rule->sharing == SHARING_SHARED;
	json_t *j = json_object(), *list = json_array();
	size_t i;

	for (i = 0; i < w->n; i++)
		json_array_append_new(list, candidate_json(inv, w->candidate[i]));
	json_object_set_new(j, "count", json_integer(w->count));
	put_text(j, "vendor", gpu_rule_vendor(w->rule));
	json_object_set_new(j, "line", json_integer(w->rule->line));
	put_text(j, "sharing", shared ? "shared" : "exclusive");
	if (shared && w->rule->share_limit != 0)
		json_object_set_new(j, "share_limit", json_integer(w->rule->share_limit));
	json_object_set_new(j, "capabilities", capability_names(w->rule->capabilities));
	json_object_set_new(j, "candidates", list);
	return j;
}

static json_t *
folder_json(const struct folder_grant *f)
{
	json_t *j = json_object();

	put_text(j, "path", f->path);
	put_text(j, "target", f->target);
	put_text(j, "access", f->writable ? "rw" : "ro");
	json_object_set_new(j, "submounts", json_boolean(f->rule->submounts));
	put_text(j, "relabel", relabel_name(f->rule->relabel));
	return j;
}

/*
 * The names of the variables that the policy sets.  Their values are for the container only, so they are not printed.
 */
static json_t *
env_names(const struct policy *p)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < p->env.n; i++)
		json_array_append_new(list, json_stringn(p->env.v[i], strcspn(p->env.v[i], "=")));
	return list;
}

/* True if the policy lets the container be privileged, and others may not be. */
static bool
may_be_privileged(const struct inquiry *q)
{
	return q->config->settings.privileged == PRIVILEGED_DENY && q->decision.policy->privileged;
}

/* Says whether the container takes the GPUs, or its task does: then true. */
static bool
who_takes(const struct inquiry *q, char *text, size_t size)
{
	const struct grant *g = &q->decision.grant;
	struct task_question t = { .rootful = q->client.rootful, .settings = &q->config->settings,
		.spec = q->options->bundle != NULL ? &q->spec : NULL, .privilege = q->privilege };
	size_t i;

	for (i = 0; i < g->gpus; i++)
		t.candidates += g->gpu[i].n;
	return task_takes(&t, text, size, NULL);
}

static void
put_quota(json_t *j, const char *key, unsigned n)
{
	if (n != 0)
		json_object_set_new(j, key, json_integer(n));
}

static json_t *
gives_json(const struct inquiry *q)
{
	const struct grant *g = &q->decision.grant;
	json_t *gpus = json_array(), *folders = json_array();
	json_t *j, *now;
	char takes[600];
	bool task;
	size_t i;

	for (i = 0; i < g->gpus; i++)
		json_array_append_new(gpus, want_json(&q->decision.inventory, &g->gpu[i]));
	for (i = 0; i < g->folders; i++)
		json_array_append_new(folders, folder_json(&g->folder[i]));
	j = json_pack("{s:o, s:o, s:o, s:o, s:b, s:I}", "gpus", gpus, "libraries", libraries_json(q), "folders", folders,
	    "env", env_names(q->decision.policy), "privileged", may_be_privileged(q), "wait", (json_int_t)g->wait);
	if (g->gpus > 0) {
		put_quota(j, "max_gpus", q->decision.policy->max_gpus);
		put_quota(j, "max_waiting", q->decision.policy->max_waiting);
		json_object_set_new(j, "priority", json_integer(q->decision.policy->priority));
		task = who_takes(q, takes, sizeof(takes));
		put_text(j, "taken_by", task ? "task" : "create");
		put_text(j, "tasks", takes);
		if ((now = explain_now(q)) != NULL)
			json_object_set_new(j, "now", now);
	}
	return j;
}

json_t *
token_json(const struct token_check_log *log)
{
	json_t *list = json_array(), *j;
	size_t i;

	for (i = 0; i < log->n; i++) {
		j = json_object();
		put_text(j, "check", log->check[i].name);
		put_text(j, "result", check_name(log->check[i].result));
		put_text(j, "text", log->check[i].text);
		json_array_append_new(list, j);
	}
	return list;
}

static void
print_answer_json(const struct inquiry *q)
{
	json_t *j = json_object(), *list = json_array();
	size_t i;

	put_text(j, "outcome", outcome_name(q));
	if (q->assumed[0] != '\0')
		put_text(j, "assumed", q->assumed);
	if (q->outcome == OUTCOME_GRANTED) {
		put_text(j, "policy", q->decision.policy->name);
	} else {
		put_text(j, "reason", q->why.text);
		json_object_set_new(j, "code", json_integer(q->why.code));
	}
	json_object_set_new(j, "question", question_json(q));
	json_object_set_new(j, "policies", policies_json(q));
	if (q->outcome == OUTCOME_GRANTED)
		json_object_set_new(j, "gives", gives_json(q));
	if (q->token.n > 0)
		json_object_set_new(j, "token", token_json(&q->token));
	json_object_set_new(j, "notes", strings_json(&q->notes));
	for (i = 0; unseen[i] != NULL; i++)
		json_array_append_new(list, json_string(unseen[i]));
	json_object_set_new(j, "not_looked_at", list);
	put_out(j);
}

/* Text */

static void
say_question(const struct inquiry *q)
{
	const struct identity *id = &q->identity;
	const struct request *r = &q->request;
	const char *user = q->client.user != NULL ? q->client.user : "(without a name)";

	if (id->kind == IDENTITY_CALLER)
		say("container: user %s (uid %u); pipeline unknown", user, q->client.uid);
	else
		say("container: user %s (uid %u), pipeline %s/%s, job %s, by %s", user, q->client.uid,
		    quoted(id->team), quoted(id->pipeline), id->job != NULL ? quoted(id->job) : "(none)",
		    identity_name(id->kind));
	if (r->untrusted.gpus == NULL && r->untrusted.folders == NULL)
		say("requests: %s", q->asks ? "everything that the policy lists" : "nothing");
	else
		say("requests: gpus %s; folders %s", r->untrusted.gpus != NULL ? quoted(r->untrusted.gpus) : "none",
		    r->untrusted.folders != NULL ? quoted(r->untrusted.folders) : "none");
}

void
say_token(const struct token_check_log *log)
{
	size_t i;

	for (i = 0; i < log->n; i++)
		/* a skipped check needs no result word: its text says that it was skipped */
		say("token, %s: %s%s%s", log->check[i].name,
		    log->check[i].result == TOKEN_CHECK_SKIPPED ? "" : check_name(log->check[i].result),
		    log->check[i].result == TOKEN_CHECK_SKIPPED || log->check[i].text[0] == '\0' ? "" : ": ",
		    log->check[i].text);
}

static void
say_policies(const struct inquiry *q)
{
	const char *name;
	size_t i;

	if (q->config->policies.n == 0)
		say("policies: none in %s/policy.d", q->config->dir);
	for (i = 0; i < q->config->policies.n; i++) {
		name = q->config->policies.v[i].policy.name;
		if (i >= q->heard)
			say("%s: not asked: %s", name, q->heard == 0 ? "the request is decided before any policy" :
			    q->decision.verdict == VERDICT_GRANT ? "an earlier file grants" : "an earlier file is broken");
		else if (is_wall(q, i))
			say("%s: broken, so the search ends here: %s", name, said_why(q, i));
		else if (q->said[i].verdict == VERDICT_GRANT)
			say("%s: decides: covers the container, and allows the whole request", name);
		else
			say("%s: %s: %s", name, q->said[i].verdict == VERDICT_LACKS ?
			    "covers the container, but does not allow the whole request" : "does not cover the container",
			    said_why(q, i));
	}
}

static void
say_gpus(const struct gpu_grant *w)
{
	autofree char *joined = malloc(256);
	json_t *names = capability_names(w->rule->capabilities);
	const struct gpu *g;
	size_t i;

	if (joined == NULL)
		return;
	join(names, joined, 256);
	json_decref(names);
	if (w->rule->sharing == SHARING_EXCLUSIVE)
		say("  %u of these %s GPUs, exclusive, for %s:", w->count, gpu_rule_vendor(w->rule), joined);
	else if (w->rule->share_limit != 0)
		say("  %u of these %s GPUs, shared by at most %u, for %s:", w->count, gpu_rule_vendor(w->rule),
		    w->rule->share_limit, joined);
	else
		say("  %u of these %s GPUs, shared, for %s:", w->count, gpu_rule_vendor(w->rule), joined);
	for (i = 0; i < w->n; i++) {
		g = w->candidate[i];
		say("    %u  %s  %s  %s", g->rank, g->pci, g->uuid[0] != '\0' ? g->uuid : "-", g->model);
	}
}

static void
say_libraries(const struct inquiry *q)
{
	json_t *all = libraries_json(q), *list;
	const char *capability;
	char joined[2048];

	json_object_foreach(all, capability, list) {
		join(list, joined, sizeof(joined));
		say("  libraries for %s: %s", capability, joined);
	}
	json_decref(all);
}

/* What the policy says about waiting for GPUs. */
static void
say_wait(const struct policy *p, unsigned wait)
{
	if (wait > 0)
		say("  if they are busy, the container waits up to %u s", wait);
	if (wait > 0 && p->priority != PRIORITY_DEFAULT)
		say("  of those that wait, it has priority %u (the default is %d)", p->priority, PRIORITY_DEFAULT);
	if (p->max_gpus != 0)
		say("  all containers of this policy hold at most %u GPUs at once", p->max_gpus);
	if (p->max_waiting != 0)
		say("  at most %u of them wait", p->max_waiting);
}

static void
say_now(const struct inquiry *q)
{
	json_t *now = explain_now(q), *text;
	size_t i;

	json_array_foreach(json_object_get(now, "why"), i, text)
		say("  now: %s", json_string_value(text));
	if (now != NULL && i == 0)
		say("  now: nobody waits before it");
	json_decref(now);
}

static void
say_grant(const struct inquiry *q)
{
	const struct grant *g = &q->decision.grant;
	json_t *names = env_names(q->decision.policy);
	const struct folder_grant *f;
	char joined[1024];
	size_t i;

	say("%s by %s:", q->tokens_fail ? "would be granted" : "granted", q->decision.policy->name);
	for (i = 0; i < g->gpus; i++)
		say_gpus(&g->gpu[i]);
	say_libraries(q);
	if (g->gpus > 0) {
		say_wait(q->decision.policy, g->wait);
		say_now(q);
		(void)who_takes(q, joined, sizeof(joined));
		say("  %s", joined);
	}
	for (i = 0; i < g->folders; i++) {
		f = &g->folder[i];
		say("  folder %s %s %s %s%s%s", f->path, f->writable ? "rw" : "ro", strpbrk(f->path, "*?") ? "in" : "at",
		    f->target, f->rule->submounts ? ", with its submounts" : "", f->rule->relabel == RELABEL_NO ? "" :
		    f->rule->relabel == RELABEL_SHARED ? ", labelled for all containers" : ", labelled for this container only");
	}
	if (json_array_size(names) > 0) {
		join(names, joined, sizeof(joined));
		say("  variables %s", joined);
	}
	if (may_be_privileged(q))
		say("  it may be privileged, and is the host's root then");
	else if (g->gpus == 0 && g->folders == 0)
		say("  nothing");
	json_decref(names);
}

void
explain_answer(const struct inquiry *q)
{
	size_t i;

	if (q->options->json) {
		print_answer_json(q);
		return;
	}
	if (q->assumed[0] != '\0')
		say("assumed: %s", q->assumed);
	say_question(q);
	say_token(&q->token);
	say_policies(q);
	if (q->outcome == OUTCOME_GRANTED)
		say_grant(q);
	else
		say("%s: %s", q->outcome == OUTCOME_PLAIN ? "plain (created without a grant)" : "refused", q->why.text);
	for (i = 0; i < q->notes.n; i++)
		say("note: %s", q->notes.v[i]);
	for (i = 0; unseen[i] != NULL; i++)
		say("not considered: %s", unseen[i]);
}
