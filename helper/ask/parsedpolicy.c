/* See parsedpolicy.h: the policies. */
#include "parsedpolicy.h"

#include "../policy/instancevarstext.h"
#include "parsed.h"

static void
policy_lines(struct lines *t, struct policy *p)
{
	lines_begin(t, "for");
	p->identity = (enum identity_kind)field_index(t, p->identity, IDENTITY_KINDS);
	field_copy_if_any(t, &p->team);
	field_copy_if_any(t, &p->pipeline);
	field_copy_if_any(t, &p->issuer);
	field_bool(t, &p->privileged);
	lines_begin(t, "jobs");
	field_bool(t, &p->has_jobs);
	fields_list(t, &p->jobs);
	instance_vars_lines(t, &p->instance_vars);
	claim_set_lines(t, "claim", &p->claims);
	lines_begin(t, "callers");
	field_bool(t, &p->has_callers);
	fields_list(t, &p->callers);
	policy_grants_lines(t, p);
}

static void
entry_lines(struct lines *t, void *member)
{
	struct policy_entry *e = member;

	field_copy(t, &e->policy.name);
	field_copy_if_any(t, &e->broken);
	if (e->broken == NULL)
		policy_lines(t, &e->policy);
}

void
policy_set_lines(struct lines *t, struct policy_set *s)
{
	lines_members(t, "policy", (void **)&s->v, &s->n, POLICY_FILES_MAX, sizeof(*s->v), entry_lines);
}
