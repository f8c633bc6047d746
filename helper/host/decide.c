/* See decide.h.  Looks at the host's GPUs only for a policy that covers the question and gives some. */
#include "decide.h"

struct search {
	const struct question *q;
	struct decision *out;
	decide_trace *trace;
	void *ctx;
	bool lacked;		/* a policy covered, and did not allow: its reason is the one to tell */
};

static void
tell(const struct search *s, const char *file, enum verdict v, const struct why *why)
{
	if (s->trace != NULL)
		s->trace(s->ctx, file, v, v == VERDICT_GRANT ? "" : why->text);
}

static enum verdict
judge(struct search *s, const struct policy *p, struct why *why)
{
	const struct question *q = s->q;
	struct decision *d = s->out;

	if (!policy_covers(p, q->who, q->id, why))
		return VERDICT_OTHER;
	inventory_free(&d->inventory);
	if (p->gpus > 0 && ask_wants_gpus(q->ask) &&
	    gpus_find(&q->source, policy_vendors(p) | 1U << GPU_NVIDIA, &d->inventory, why) == -1)
		return VERDICT_LACKS;
	grant_free(&d->grant);
	return policy_allows(p, q->who, q->ask, &d->inventory, q->settings, &d->grant, why);
}

/* True when the search is over. */
static bool
judge_file(struct search *s, const struct policy_file *f)
{
	autofaults struct faults faults = { 0 };
	struct decision *d = s->out;
	struct why why = { 0 };
	enum verdict v;

	policy_free(&d->policy);
	if (!policy_parse(f->name, f->text, f->len, &d->policy, &faults)) {
		faults_refuse(&faults, f->name, &why);
		refuse(&d->why, WHY_CONFIG, "no policy before %s grants this, and that file is broken: %s", f->name,
		    why.text);
		tell(s, f->name, VERDICT_LACKS, &d->why);
		return true;
	}
	v = judge(s, &d->policy, &why);
	tell(s, f->name, v, &why);
	if (v == VERDICT_GRANT) {
		d->verdict = VERDICT_GRANT;
		return true;
	}
	if (v == VERDICT_LACKS && !s->lacked) {
		s->lacked = true;
		d->why = why;
	}
	return false;
}

static void
say_nothing_covers(const struct question *q, struct why *why)
{
	const char *user = q->who->user != NULL ? q->who->user : "(without a name)";

	if (q->files->n == 0)
		refuse(why, WHY_DENIED, "no policy: there is no *.conf file in policy.d");
	else if (q->id->kind == IDENTITY_CALLER)
		refuse(why, WHY_DENIED, "no policy covers a container of user %s that proves no pipeline: pass "
		    "GPUHELPER_TOKEN, or see gpuhelperctl explain", user);
	else
		refuse(why, WHY_DENIED, "no policy covers pipeline %s/%s (by %s) for user %s: see gpuhelperctl explain",
		    q->id->team, q->id->pipeline, identity_name(q->id->kind), user);
}

void
decide(const struct question *q, struct decision *out, decide_trace *trace, void *ctx)
{
	struct search s = { .q = q, .out = out, .trace = trace, .ctx = ctx };
	size_t i;

	*out = (struct decision){ .verdict = VERDICT_OTHER };
	say_nothing_covers(q, &out->why);
	for (i = 0; i < q->files->n; i++)
		if (judge_file(&s, &q->files->v[i]))
			return;
}

void
decision_free(struct decision *d)
{
	policy_free(&d->policy);
	inventory_free(&d->inventory);
	grant_free(&d->grant);
}
