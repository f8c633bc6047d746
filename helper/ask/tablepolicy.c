/* See table.h: the policies. */
#include "table.h"

static void
policy_lines(struct lines *t, struct policy *p)
{
	lines_begin(t, "for");
	p->identity = (enum identity_kind)word_index(t, p->identity, IDENTITY_KINDS);
	word_copy_if_any(t, &p->team);
	word_copy_if_any(t, &p->pipeline);
	word_copy_if_any(t, &p->issuer);
	word_bool(t, &p->privileged);
	lines_begin(t, "jobs");
	word_bool(t, &p->has_jobs);
	words_list(t, &p->jobs);
	instance_vars_lines(t, &p->instance_vars);
	claim_set_lines(t, "claim", &p->claims);
	lines_begin(t, "callers");
	word_bool(t, &p->has_callers);
	words_list(t, &p->callers);
	policy_terms_lines(t, p);
}

static void
entry_lines(struct lines *t, void *member)
{
	struct policy_entry *e = member;

	word_copy(t, &e->policy.name);
	word_copy_if_any(t, &e->broken);
	if (e->broken == NULL)
		policy_lines(t, &e->policy);
}

void
policy_set_lines(struct lines *t, struct policy_set *s)
{
	lines_members(t, "policy", (void **)&s->v, &s->n, POLICY_FILES_MAX, sizeof(*s->v), entry_lines);
}
