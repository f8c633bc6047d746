/* See decide.h.  Looks at the host's GPUs only for a policy that covers the question and gives some. */
#include "decide.h"

#include "cdigpus.h"

struct search {
	const struct question *q;
	struct decision *out;
	decide_trace *trace;
	void *ctx;
	unsigned vendors;	/* that «inventory» is of */
	struct inventory inventory;
	bool has_specs;
	struct cdi_registry specs;
	const char *misses;	/* what of the container a policy for its pipeline is not for; NULL: there is none */
	bool blind;		/* what the host has can't be seen */
	bool lacked;		/* a policy covered, and did not allow: its reason is the one to tell */
};

static void
tell(const struct search *s, const char *file, enum verdict v, const struct why *why)
{
	if (s->trace != NULL)
		s->trace(s->ctx, file, v, v == VERDICT_GRANT ? "" : why->text);
}

/* A spec that can't be read is told where it is missed: a policy may need none. */
static int
read_specs(struct search *s, struct why *why)
{
	if (s->has_specs)
		return 0;
	s->has_specs = true;
	return cdi_registry_load(CDI_DIRS, true, s->q->parse_specs, &s->specs, why);
}

/*
 * What was found for one policy holds for the next: a GPU that could not be read
 * for the first must not make a second one the one that decides.
 */
static int
find_gpus(struct search *s, unsigned vendors, struct why *why)
{
	if (vendors == s->vendors)
		return 0;
	inventory_free(&s->inventory);
	s->vendors = 0;
	if (s->q->find_gpus(vendors, &s->inventory, why) == -1 || read_specs(s, why) == -1 ||
	    cdigpus_name(&s->specs, &s->inventory, why) == -1)
		return -1;
	s->vendors = vendors;
	return 0;
}

static enum verdict
judge(struct search *s, const struct policy *p, struct why *why)
{
	static const struct inventory none;
	const struct question *q = s->q;
	struct decision *d = s->out;
	bool gives = p->gpus > 0 && ask_wants_gpus(q->ask);
	enum verdict v;

	if (!policy_covers(p, q->who, q->id, why)) {
		if (s->misses == NULL)
			s->misses = policy_misses(p, q->who, q->id);
		return VERDICT_OTHER;
	}
	if (gives && find_gpus(s, policy_vendors(p) | 1U << GPU_NVIDIA, why) == -1) {
		s->blind = true;
		return VERDICT_LACKS;
	}
	grant_free(&d->grant);
	v = policy_allows(p, q->who, q->ask, gives ? &s->inventory : &none, q->settings, &d->grant, why);
	if (v == VERDICT_GRANT && gives) {
		d->inventory = s->inventory;
		d->specs = s->specs;
		s->inventory = (struct inventory){ 0 };
		s->specs = (struct cdi_registry){ 0 };
	}
	return v;
}

/* True when the search is over. */
static bool
judge_policy(struct search *s, const struct policy_entry *e)
{
	const char *name = e->policy.name;
	struct decision *d = s->out;
	struct why why = { 0 };
	enum verdict v;

	if (e->broken != NULL) {
		refuse(&d->why, WHY_CONFIG, "no policy before %s grants this, and that file is broken: %s", name, e->broken);
		tell(s, name, VERDICT_LACKS, &d->why);
		return true;
	}
	v = judge(s, &e->policy, &why);
	tell(s, name, v, &why);
	/* where the host fails there is no verdict, and so none that a later file may give */
	if (v != VERDICT_GRANT && (s->blind || why.code == WHY_IO || why.code == WHY_BUG)) {
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

/* Who is told of each policy already is explain. */
static void
say_nothing_covers(const struct search *s, struct why *why)
{
	const struct question *q = s->q;
	const char *user = q->who->user != NULL ? q->who->user : "(without a name)";

	if (q->policies->n == 0)
		refuse(why, WHY_DENIED, "no policy: there is no *.conf file in policy.d");
	else if (q->id->kind == IDENTITY_CALLER)
		refuse(why, WHY_DENIED, "no policy covers a container of user %s that proves no pipeline: pass "
		    "GPUHELPER_TOKEN%s", user, s->trace == NULL ? ", or see gpuhelperctl explain" : "");
	else
		refuse(why, WHY_DENIED, "no policy covers %s%spipeline %s/%s (by %s) for user %s%s",
		    s->misses != NULL ? s->misses : "", s->misses != NULL ? " of " : "", q->id->team, q->id->pipeline,
		    identity_name(q->id->kind), user, s->trace == NULL ? ": see gpuhelperctl explain" : "");
}

void
decide(const struct question *q, struct decision *out, decide_trace *trace, void *ctx)
{
	struct search s = { .q = q, .out = out, .trace = trace, .ctx = ctx };
	size_t i;

	*out = (struct decision){ .verdict = VERDICT_OTHER };
	for (i = 0; i < q->policies->n && !judge_policy(&s, &q->policies->v[i]); i++)
		;
	if (out->verdict != VERDICT_GRANT && out->why.code == WHY_NONE)
		say_nothing_covers(&s, &out->why);
	inventory_free(&s.inventory);
	cdi_registry_free(&s.specs);
}

void
decision_free(struct decision *d)
{
	inventory_free(&d->inventory);
	cdi_registry_free(&d->specs);
	grant_free(&d->grant);
}
