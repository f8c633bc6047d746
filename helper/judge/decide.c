/* See decide.h. Must look at the host's GPUs only for a policy that covers the question and gives GPUs. */
#include "decide.h"

#include <string.h>

#include "../base/cleanup.h"
#include "../base/quoted.h"
#include "../base/text.h"
#include "../gpu/gpufind.h"
#include "../policy/policydecide.h"

#define NAME_MAX_SHOWN 64	/* bytes of a name in a command */

struct policy_search {
	const struct question *q;
	struct decision *out;
	decide_trace *trace;
	void *ctx;
	const char *misses;	/* the part of the question that a policy for its pipeline does not cover, or NULL */
	struct why claim;	/* if that is a claim: which, and what the policy is for */
	bool gpus_unknown;		/* the host's GPUs can't be read */
	bool lacked;		/* a policy covered, but did not allow: its reason goes to the user */
};

static void
trace_verdict(const struct policy_search *s, const char *file, enum verdict_kind v, const struct why *why)
{
	if (s->trace != NULL)
		s->trace(s->ctx, file, v, v == VERDICT_GRANT ? "" : why->text);
}

/* Gets the GPUs of the vendors that a policy names into *inv. */
static int
copy_gpus(const struct question *q, const struct policy *p, struct inventory *inv, struct why *why)
{
	if (q->gpus_unknown->code != WHY_NONE) {
		*why = *q->gpus_unknown;
		return -1;
	}
	return inventory_copy(q->host, policy_vendors(p), inv, why);
}

static enum verdict_kind
try_policy(struct policy_search *s, const struct policy *p, struct why *why)
{
	const struct question *q = s->q;
	struct decision *d = s->out;
	bool gives = p->gpus > 0 && requested_wants_gpus(q->requested);

	if (!policy_covers(p, q->who, q->id, q->settings, why)) {
		if (s->misses == NULL && (s->misses = policy_misses(p, q->who, q->id, q->settings)) != NULL &&
		    strcmp(s->misses, MISSES_CLAIMS) == 0)
			s->claim = *why;
		return VERDICT_OTHER;
	}
	grant_free(&d->grant);
	inventory_free(&d->inventory);
	if (gives && copy_gpus(q, p, &d->inventory, why) == -1) {
		s->gpus_unknown = true;
		return VERDICT_LACKS;
	}
	return policy_decide(p, q->who, q->requested, &d->inventory, q->settings, &d->grant, why);
}

/* Tries one policy file. True if the search is over. */
static bool
try_file(struct policy_search *s, const struct policy_entry *e)
{
	const char *name = e->policy.name;
	struct decision *d = s->out;
	struct why why = { 0 };
	enum verdict_kind v;

	if (e->broken != NULL) {
		refuse(&d->why, WHY_CONFIG, "no policy before %s grants this, and that file is broken: %s", name, e->broken);
		trace_verdict(s, name, VERDICT_LACKS, &d->why);
		return true;
	}
	v = try_policy(s, &e->policy, &why);
	trace_verdict(s, name, v, &why);
	/* if the host could not be read, this policy has no verdict, so no later file may grant */
	if (v != VERDICT_GRANT && (s->gpus_unknown || why.code == WHY_IO || why.code == WHY_BUG)) {
		d->why = why;
		return true;
	}
	if (v == VERDICT_GRANT) {
		d->verdict = VERDICT_GRANT;
		d->policy = &e->policy;
		return true;
	}
	if (v == VERDICT_LACKS && !s->lacked) {
		s->lacked = true;
		d->why = why;
	}
	return false;
}

/* True for a text that a shell takes as one word, and that leaves room for the rest of the line. */
static bool
is_plain(const char *text)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:@+=,";
	const size_t n = strspn(text, plain);

	return n > 0 && n < NAME_MAX_SHOWN && text[n] == '\0' && *text != '-';
}

/* Appends the option, if there is a value.  False if a shell would not take that as one word. */
static bool
add_option(struct buf *b, const char *option, const char *value)
{
	if (value != NULL && is_plain(value))
		buf_printf(b, " %s %s", option, value);
	return value == NULL || is_plain(value);
}

/*
 * Writes the command that asks explain the same. Whoever starts containers chose the names, and whoever administers the
 * host may copy the line into a shell, so other names are not in it.
 */
static void
write_explain(const struct policy_search *s, struct buf *b)
{
	const struct identity *id = s->q->id;
	const struct client *who = s->q->who;

	buf_puts(b, "gpuhelperctl explain");
	if (id->kind == IDENTITY_CALLER)
		buf_puts(b, " --identity caller");
	else if (is_plain(id->team) && is_plain(id->pipeline))
		buf_printf(b, " --pipeline %s/%s --identity %s", id->team, id->pipeline, identity_name(id->kind));
	else
		buf_printf(b, " --pipeline TEAM/PIPELINE --identity %s", identity_name(id->kind));
	/* explain decides nothing for a container that asks for nothing */
	buf_printf(b, " --%s all", requested_wants_gpus(s->q->requested) ? "gpus" : "folders");
	if (!add_option(b, "--job", s->misses != NULL ? id->job : NULL))
		buf_puts(b, " --job JOB");
	if (!add_option(b, "--issuer", s->q->settings->several_issuers ? id->issuer : NULL))
		buf_puts(b, " --issuer URL");
	if (who->uid != 0 && !add_option(b, "--user", who->user != NULL ? who->user : ""))
		buf_printf(b, " --user %u", who->uid);
}

/* Without a trace (explain has one), the message names the command that has one. */
static void
say_nothing_covers(const struct policy_search *s, struct why *why)
{
	const struct question *q = s->q;
	const char *user = q->who->user != NULL ? q->who->user : "(without a name)";
	autobuf struct buf explain = { 0 };
	const char *command;

	write_explain(s, &explain);
	command = explain.failed ? "gpuhelperctl explain --help" : explain.p;
	if (q->files == 0)
		refuse(why, WHY_DENIED, "no policy: there is no *.conf file in policy.d");
	else if (q->id->kind == IDENTITY_CALLER)
		refuse(why, WHY_DENIED, "no policy covers a container of user %s that proves no pipeline: pass "
		    "GPUHELPER_TOKEN%s%s", user, s->trace == NULL ? ", or see " : "", s->trace == NULL ? command : "");
	else
		refuse(why, WHY_DENIED, "no policy covers %s%spipeline %s/%s (by %s) for user %s%s%s",
		    s->misses != NULL ? s->misses : "", s->misses != NULL ? " of " : "", quoted(q->id->team),
		    quoted(q->id->pipeline), identity_name(q->id->kind), user,
		    s->claim.code != WHY_NONE ? ": " : s->trace == NULL ? ": see " : "",
		    s->claim.code != WHY_NONE ? s->claim.text : s->trace == NULL ? command : "");
}

void
decide(const struct question *q, struct decision *out, decide_trace *trace, void *ctx)
{
	struct policy_search s = { .q = q, .out = out, .trace = trace, .ctx = ctx };
	size_t i;

	*out = (struct decision){ .verdict = VERDICT_OTHER };
	for (i = 0; i < q->policies->n && !try_file(&s, &q->policies->v[i]); i++)
		;
	if (out->verdict != VERDICT_GRANT && out->why.code == WHY_NONE)
		say_nothing_covers(&s, &out->why);
}

static int
parse_ask(const struct grant_query *a, struct requested *out, struct why *why)
{
	return requested_parse(a->gpus, a->folders, out, why) == -1 ? -1 :
	    gpu_bounds_parse(a->cuda_visible, a->rocr_visible, out->bound, why);
}

int
decide_grant(const struct grant_query *a, struct decision_indexes *out, struct why *why)
{
	autodecision struct decision d = { .verdict = VERDICT_OTHER };
	autorequested struct requested requested = { 0 };
	const struct question q = { &a->who, &a->principal.id, &requested, &a->settings, &a->policies, a->files,
		&a->inventory, &a->gpus_unknown };

	if (parse_ask(a, &requested, why) == -1)
		return -1;
	requested.privileged = a->privileged;
	decide(&q, &d, NULL, NULL);
	if (d.verdict == VERDICT_GRANT)
		return indexes_make(&d, &a->policies, out, why);
	*why = d.why;
	return -1;
}
