/*
 * Whether two policies can cover the same container.  In doubt the answer is yes: a needless warning costs a look, a
 * missing one may cost a GPU.  Compares the policies' text only; does not look at the host.
 */
#include "../../policy/claimsetadd.h"
#include "check.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "../../base/path.h"
#include "../../judge/instancevar.h"
#include "../../policy/claimset.h"
#include "../../policy/gpurule.h"

#define PATTERN_MAX 256

/*
 * True if some name matches both patterns.  Dynamic programming: in row i, meet[j] says whether some name matches both
 * the first i characters of a and the first j of b.
 */
static bool
globs_meet(const char *a, const char *b)
{
	bool meet[PATTERN_MAX + 1], corner, above;
	size_t n = strlen(b), i, j;

	if (n > PATTERN_MAX)
		return true;
	meet[0] = true;
	for (j = 1; j <= n; j++)
		meet[j] = meet[j - 1] && b[j - 1] == '*';
	for (i = 0; a[i] != '\0'; i++) {
		corner = meet[0];
		meet[0] = meet[0] && a[i] == '*';
		for (j = 1; j <= n; j++) {
			above = meet[j];
			if (a[i] == '*' || b[j - 1] == '*')
				meet[j] = above || meet[j - 1];
			else
				meet[j] = corner && (a[i] == b[j - 1] || a[i] == '?' || b[j - 1] == '?');
			corner = above;
		}
	}
	return meet[n];
}

/* True if «wide» certainly matches every name that «narrow» matches; false in doubt. */
static bool
glob_includes(const char *wide, const char *narrow)
{
	if (strcmp(wide, narrow) == 0 || strcmp(wide, "*") == 0)
		return true;
	return !glob_is(narrow) && glob_match(wide, narrow);
}

static bool
lists_meet(const struct strlist *a, const struct strlist *b)
{
	size_t i, k;

	for (i = 0; i < a->n; i++)
		for (k = 0; k < b->n; k++)
			if (globs_meet(a->v[i], b->v[k]))
				return true;
	return false;
}

static bool
list_includes(const struct strlist *wide, const struct strlist *narrow)
{
	size_t i, k;

	for (i = 0; i < narrow->n; i++) {
		for (k = 0; k < wide->n && !glob_includes(wide->v[k], narrow->v[i]); k++)
			;
		if (k == wide->n)
			return false;
	}
	return true;
}

static bool
callers_meet(const struct policy *a, const struct policy *b)
{
	size_t i;

	/* without callers, a policy is for the members of group gpuhelper, which may be anyone */
	if (!a->has_callers || !b->has_callers)
		return true;
	for (i = 0; i < a->callers.n; i++)
		if (strlist_has(&b->callers, a->callers.v[i]))
			return true;
	return false;
}

static bool
vars_meet(const struct policy *a, const struct policy *b)
{
	const char *other;
	size_t i;

	for (i = 0; i < a->instance_vars.name.n; i++)
		if ((other = instance_var(&b->instance_vars, a->instance_vars.name.v[i])) != NULL &&
		    strcmp(a->instance_vars.value.v[i], other) != 0)
			return false;
	return true;
}

/* True if some value of this claim is one that both policies take. */
static bool
claim_meets(const struct claim_set *a, const struct claim_set *b, const char *name)
{
	size_t i, k;

	for (i = 0; i < a->name.n; i++)
		for (k = 0; strcmp(a->name.v[i], name) == 0 && k < b->name.n; k++)
			if (strcmp(b->name.v[k], name) == 0 && globs_meet(a->value.v[i], b->value.v[k]))
				return true;
	return false;
}

static bool
claims_meet(const struct claim_set *a, const struct claim_set *b)
{
	size_t i;

	for (i = 0; i < a->name.n; i++)
		if (claim_set_value(b, a->name.v[i]) != NULL && !claim_meets(a, b, a->name.v[i]))
			return false;
	return true;
}

/* True if one of these values certainly takes each that the narrow one takes. */
static bool
claim_includes(const struct claim_set *wide, const char *name, const char *narrow)
{
	size_t i;

	for (i = 0; i < wide->name.n; i++)
		if (strcmp(wide->name.v[i], name) == 0 && glob_includes(wide->value.v[i], narrow))
			return true;
	return false;
}

static bool
claims_included(const struct claim_set *wide, const struct claim_set *narrow)
{
	size_t i;

	for (i = 0; i < wide->name.n; i++)
		if (claim_set_value(narrow, wide->name.v[i]) == NULL)
			return false;
	for (i = 0; i < narrow->name.n; i++)
		if (claim_set_value(wide, narrow->name.v[i]) != NULL &&
		    !claim_includes(wide, narrow->name.v[i], narrow->value.v[i]))
			return false;
	return true;
}

static bool
covers_meet(const struct policy *a, const struct policy *b)
{
	if (!callers_meet(a, b))
		return false;
	if (a->identity == IDENTITY_CALLER || b->identity == IDENTITY_CALLER)
		return true;
	if (a->issuer != NULL && b->issuer != NULL && strcmp(a->issuer, b->issuer) != 0)
		return false;
	return globs_meet(a->team, b->team) && globs_meet(a->pipeline, b->pipeline) &&
	    (!a->has_jobs || !b->has_jobs || lists_meet(&a->jobs, &b->jobs)) && vars_meet(a, b) &&
	    claims_meet(&a->claims, &b->claims);
}

static bool
vars_included(const struct instance_vars *wide, const struct instance_vars *narrow)
{
	const char *other;
	size_t i;

	for (i = 0; i < wide->name.n; i++)
		if ((other = instance_var(narrow, wide->name.v[i])) == NULL || strcmp(wide->value.v[i], other) != 0)
			return false;
	return true;
}

/* True if «wide» certainly covers every container that «narrow» covers; false in doubt. */
static bool
cover_includes(const struct policy *wide, const struct policy *narrow)
{
	size_t i;

	if (wide->has_callers) {
		for (i = 0; i < narrow->callers.n; i++)
			if (!strlist_has(&wide->callers, narrow->callers.v[i]))
				return false;
		if (!narrow->has_callers)
			return false;
	}
	if (wide->identity == IDENTITY_CALLER)
		return true;
	/* a container with a token also satisfies identity = "claim", but not the other way round */
	if (narrow->identity == IDENTITY_CALLER ||
	    (wide->identity == IDENTITY_TOKEN && narrow->identity == IDENTITY_CLAIM))
		return false;
	if (wide->issuer != NULL && (narrow->issuer == NULL || strcmp(wide->issuer, narrow->issuer) != 0))
		return false;
	if (!glob_includes(wide->team, narrow->team) || !glob_includes(wide->pipeline, narrow->pipeline))
		return false;
	if (wide->has_jobs && (!narrow->has_jobs || !list_includes(&wide->jobs, &narrow->jobs)))
		return false;
	return vars_included(&wide->instance_vars, &narrow->instance_vars) &&
	    claims_included(&wide->claims, &narrow->claims);
}

static bool
gpus_included(const struct gpu_rule *wide, const struct gpu_rule *narrow)
{
	size_t i;

	if (strcmp(gpu_rule_vendor(wide), gpu_rule_vendor(narrow)) != 0 || wide->count < narrow->count ||
	    (narrow->capabilities & ~wide->capabilities) != 0)
		return false;
	if (wide->devices.n == 0 || strlist_has(&wide->devices, "all"))
		return true;
	for (i = 0; i < narrow->devices.n; i++)
		if (!strlist_has(&wide->devices, narrow->devices.v[i]))
			return false;
	return narrow->devices.n > 0;
}

static bool
folder_included(const struct folder_rule *wide, const struct folder_rule *narrow)
{
	const char *wt = wide->target != NULL ? wide->target : "", *nt = narrow->target != NULL ? narrow->target : "";

	return strcmp(wide->path, narrow->path) == 0 && strcmp(wt, nt) == 0 && wide->writable >= narrow->writable &&
	    wide->subfolders >= narrow->subfolders && wide->submounts >= narrow->submounts &&
	    wide->relabel == narrow->relabel;
}

/* True if «later» gives something that «earlier» does not. */
static bool
gives_more(const struct policy *earlier, const struct policy *later)
{
	bool used[64] = { false };	/* as many rules as a policy may have */
	size_t i, k;

	for (i = 0; i < later->gpus; i++) {
		for (k = 0; k < earlier->gpus && (used[k] || !gpus_included(&earlier->gpu[k], &later->gpu[i])); k++)
			;
		if (k == earlier->gpus)
			return true;
		used[k] = true;
	}
	for (i = 0; i < later->folders; i++) {
		for (k = 0; k < earlier->folders && !folder_included(&earlier->folder[k], &later->folder[i]); k++)
			;
		if (k == earlier->folders)
			return true;
	}
	return false;
}

bool
policies_overlap(const struct policy *earlier, const struct policy *later)
{
	if (!covers_meet(earlier, later) || !gives_more(earlier, later))
		return false;
	return !cover_includes(earlier, later) || cover_includes(later, earlier);
}
