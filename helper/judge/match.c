/* See match.h. Must make no system calls, so that gpuhelperctl explain and the fuzzers run the same code. */
#include "match.h"

#include <stdio.h>
#include <string.h>

#include "../base/path.h"
#include "../cdi/cdigpu.h"
#include "../cdi/cdiproblem.h"
#include "../gpu/extranode.h"
#include "../gpu/extraword.h"
#include "../gpu/gpufind.h"
#include "../policy/claimsetadd.h"
#include "../policy/gpurule.h"
#include "../policy/policydecide.h"
#include "claimvalue.h"
#include "instancevar.h"

static bool
covers_job(const struct policy *p, const struct identity *id, struct why *why)
{
	size_t i;

	if (!p->has_jobs)
		return true;
	for (i = 0; id->job != NULL && i < p->jobs.n; i++)
		if (glob_match(p->jobs.v[i], id->job))
			return true;
	refuse(why, WHY_DENIED, "%s: job \"%s\" is not among its jobs", p->name, id->job ? id->job : "(none)");
	return false;
}

static bool
covers_instance(const struct policy *p, const struct identity *id, struct why *why)
{
	const struct instance_vars *want = &p->instance_vars;
	const char *value;
	char is[80], must[80];
	size_t i;

	for (i = 0; i < want->name.n; i++) {
		value = instance_var(id->instance_vars, want->name.v[i]);
		if (value != NULL && strcmp(value, want->value.v[i]) == 0)
			continue;
		instance_var_describe(value, is);
		instance_var_describe(want->value.v[i], must);
		refuse(why, WHY_DENIED, "%s: instance variable \"%.80s\" is %s, and the policy is for %s", p->name,
		    want->name.v[i], is, must);
		return false;
	}
	return true;
}

/* True if one of the policy's values for this claim will do. */
static bool
has_claim(const struct policy *p, const char *name, const char *value)
{
	size_t i;

	for (i = 0; i < p->claims.name.n; i++)
		if (strcmp(p->claims.name.v[i], name) == 0 && claim_value_matches(value, p->claims.value.v[i]))
			return true;
	return false;
}

static bool
covers_claims(const struct policy *p, const struct identity *id, struct why *why)
{
	const char *name, *value;
	char is[80], must[80];
	size_t i, k, others;

	for (i = 0; i < p->claims.name.n; i++) {
		name = p->claims.name.v[i];
		value = id->claims != NULL ? claim_set_value(id->claims, name) : NULL;
		if (has_claim(p, name, value))
			continue;
		claim_value_describe(value, is);
		claim_value_describe_wanted(p->claims.value.v[i], must);
		for (k = i + 1, others = 0; k < p->claims.name.n; k++)
			others += strcmp(p->claims.name.v[k], name) == 0;
		refuse(why, WHY_DENIED, "%s: claim \"%.80s\" is %s, and the policy is for %s%s", p->name, name, is, must,
		    others > 0 ? " or another that it lists" : "");
		return false;
	}
	return true;
}

/* Compares everything but the job, the instance variables and the claims. */
static bool
covers_pipeline(const struct policy *p, const struct client *who, const struct identity *id, const struct settings *s,
    struct why *why)
{
	if (!policy_lists(p, who, why) || !policy_takes(p, id, s, why))
		return false;
	if (p->identity == IDENTITY_CALLER || (glob_match(p->team, id->team) && glob_match(p->pipeline, id->pipeline)))
		return true;
	refuse(why, WHY_DENIED, "%s: it is for pipeline %s/%s", p->name, p->team, p->pipeline);
	return false;
}

bool
policy_covers(const struct policy *p, const struct client *who, const struct identity *id, const struct settings *s,
    struct why *why)
{
	return covers_pipeline(p, who, id, s, why) && (p->identity == IDENTITY_CALLER ||
	    (covers_job(p, id, why) && covers_instance(p, id, why) && covers_claims(p, id, why)));
}

const char *
policy_misses(const struct policy *p, const struct client *who, const struct identity *id, const struct settings *s)
{
	struct why ignored;

	if (p->identity == IDENTITY_CALLER || !covers_pipeline(p, who, id, s, &ignored))
		return NULL;
	if (!covers_job(p, id, &ignored))
		return "this job";
	if (!covers_instance(p, id, &ignored))
		return "these instance variables";
	return covers_claims(p, id, &ignored) ? NULL : MISSES_CLAIMS;
}

/* The arguments of one call of policy_decide(). */
struct trial {
	struct giving give;
	const struct requested *requested;
};

static bool
is_candidate(const struct trial *t, const struct gpu_rule *r, const struct gpu *g)
{
	return gpu_rule_gives(r, g, t->give.settings) && gpu_is_within(t->requested->bound, g);
}

/* Which of a rule's candidates a request names. A NULL pointer in place of a narrowing: all of them. */
struct narrowing {
	const struct gpu *only;		/* this GPU; the caller has checked that it is a candidate. NULL: several GPUs */
	bool has_vendor;
	enum gpu_vendor vendor;		/* if has_vendor: the GPUs of this vendor */
};

/* With by->only, does not check again that the GPU is a candidate. */
static bool
is_in_narrowing(const struct trial *t, const struct gpu_rule *r, const struct narrowing *by, const struct gpu *g)
{
	if (by != NULL && by->only != NULL)
		return g == by->only;
	return is_candidate(t, r, g) && (by == NULL || !by->has_vendor || by->vendor == g->vendor);
}

static size_t
count_candidates(const struct trial *t, const struct gpu_rule *r, const struct narrowing *by)
{
	size_t i, n = 0;

	for (i = 0; i < t->give.inv->gpus; i++)
		n += is_in_narrowing(t, r, by, &t->give.inv->gpu[i]);
	return n;
}

/* Adds a want of «count» of the rule's candidates. */
static int
add_want(const struct trial *t, const struct gpu_rule *r, unsigned count, const struct narrowing *by)
{
	const struct gpu *candidate[CANDIDATES_MAX];
	size_t i, n = 0;

	for (i = 0; i < t->give.inv->gpus && n < CANDIDATES_MAX; i++)
		if (is_in_narrowing(t, r, by, &t->give.inv->gpu[i]))
			candidate[n++] = &t->give.inv->gpu[i];
	return give_gpus(&t->give, r, count, candidate, n);
}

/* The first GPU, or part that is to be whole, that the rule names and does not give; NULL if there is none. */
static const struct gpu *
find_kept_back(const struct trial *t, const struct gpu_rule *r)
{
	const struct gpu *g = t->give.inv->gpu;
	size_t i;

	for (i = 0; i < t->give.inv->gpus; i++)
		if (gpu_rule_names(r, &g[i]) && !gpu_rule_gives(r, &g[i], t->give.settings) &&
		    (g[i].part[0] == '\0' || r->whole_mig))
			return &g[i];
	return NULL;
}

static int
refuse_instances(const struct trial *t, const struct gpu_rule *r, const struct gpu *g)
{
	return refuse(t->give.why, WHY_ABSENT, "%s:%u: GPU %s has MIG instances: name those (gpuhelperctl devices lists "
	    "them), or say mig = \"whole\"", t->give.policy->name, r->line, g->pci);
}

static int
refuse_kept_back(const struct trial *t, const struct gpu_rule *r, const struct gpu *g)
{
	const char *policy = t->give.policy->name;

	if (g->unusable[0] != '\0')
		return refuse(t->give.why, WHY_ABSENT, "%s:%u: GPU %s can't be given: %s", policy, r->line, g->pci, g->unusable);
	if (g->integrated && !t->give.settings->allow_integrated)
		return refuse(t->give.why, WHY_ABSENT, "%s:%u: GPU %s is integrated: to grant it, set allow_integrated = true in "
		    "gpuhelper.conf", policy, r->line, g->pci);
	if (g->has_instances)
		return refuse_instances(t, r, g);
	return refuse(t->give.why, WHY_ABSENT, "%s:%u: the rule says mig = \"whole\", and names only parts of GPU %s: name "
	    "the GPU", policy, r->line, g->pci);
}

/* Why no device of the kind is a GPU: «NAME has nodes of several GPUs». NULL: no reason is known for those named. */
static const char *
find_other(const struct inventory *inv, const struct gpu_rule *r)
{
	const struct strlist *l = &inv->cdi_others;
	const char *name;
	size_t i, k, n;

	for (i = 0; i < l->n; i++) {
		if (!cdi_name_is_of(l->v[i], r->kind))
			continue;
		if (r->devices.n == 0 || strlist_has(&r->devices, "all"))
			return l->v[i];
		name = strchr(l->v[i], '=') + 1;
		n = strcspn(name, " ");
		for (k = 0; k < r->devices.n; k++)
			if (strlen(r->devices.v[k]) == n && strncmp(r->devices.v[k], name, n) == 0)
				return l->v[i];
	}
	return NULL;
}

/* Why this host has no GPU of the kind's vendor ("module nvidia is not loaded"). "": it has one, or that is unknown. */
static const char *
kind_absent(const struct inventory *inv, const char *kind)
{
	char own[32];
	unsigned v;

	for (v = 0; v < GPU_VENDORS; v++) {
		snprintf(own, sizeof(own), "%s.com/", gpu_vendor_name((enum gpu_vendor)v));
		if (strstr(kind, own) != NULL)
			return inv->absent[v];
	}
	return "";
}

/* True if some GPU of this host, or another device in the specs, is of the kind. */
static bool
has_kind(const struct inventory *inv, const char *kind)
{
	size_t i;

	for (i = 0; i < inv->gpus; i++)
		if (cdi_name_of(&inv->gpu[i], kind) != NULL)
			return true;
	for (i = 0; i < inv->cdi_others.n; i++)
		if (cdi_name_is_of(inv->cdi_others.v[i], kind))
			return true;
	return false;
}

/* Writes "; this host can give kind nvidia.com/gpu" if some GPU has a name of another kind than this one, else "". */
static void
say_given_kind(const struct inventory *inv, const char *kind, char *out, size_t size)
{
	const char *name;
	size_t i;

	out[0] = '\0';
	for (i = 0; i < inv->gpus && out[0] == '\0'; i++) {
		name = cdi_name_of(&inv->gpu[i], NULL);
		if (name != NULL && !cdi_name_is_of(name, kind))
			snprintf(out, size, "; this host can give kind %.*s", (int)strcspn(name, "="), name);
	}
}

/* A rule of a CDI kind has only the names in CDI specs to go by. */
static int
refuse_no_cdi_device(const struct trial *t, const struct gpu_rule *r, size_t have)
{
	const struct inventory *inv = t->give.inv;
	const char *policy = t->give.policy->name, *absent = kind_absent(inv, r->kind), *other = find_other(inv, r);
	const char *colon = absent[0] != '\0' ? ": " : "";
	const char *problem = cdi_problem_of_kind(inv, r->kind);
	const struct gpu *kept = find_kept_back(t, r);
	const unsigned word = extra_kind_word(r->kind);
	char given[160];

	say_given_kind(inv, r->kind, given, sizeof(given));
	if (word != 0)
		return refuse(t->give.why, WHY_CONFIG, "%s:%u: %s devices are no GPUs: nodes = [ \"%s\" ] in a rule of the GPU's "
		    "kind (vendor = \"nvidia.com/gpu\") gives their nodes with the GPU", policy, r->line, r->kind,
		    extra_word_name(word));
	if (kept != NULL && have == 0)
		return refuse_kept_back(t, r, kept);
	if (problem != NULL)
		return refuse(t->give.why, WHY_CONFIG, "%s:%u: no %s device to give, and a CDI spec can't be used (mend it, or move "
		    "it to another directory): %s", policy, r->line, r->kind, problem);
	if (have > 0)
		return refuse(t->give.why, WHY_ABSENT, "%s:%u: %zu of the %s devices that this rule names can be given "
		    "(gpuhelperctl cdi list, gpuhelperctl devices)", policy, r->line, have, r->kind);
	if (other != NULL)
		return refuse(t->give.why, WHY_ABSENT, "%s:%u: no GPU of this host is a device of kind %s: %.200s%s%s%s", policy,
		    r->line, r->kind, other, colon, absent, given);
	if (has_kind(inv, r->kind))
		return refuse(t->give.why, WHY_ABSENT, "%s:%u: no GPU of this host is one of the %s devices that this rule names "
		    "(gpuhelperctl cdi list)%s%s", policy, r->line, r->kind, colon, absent);
	return refuse(t->give.why, WHY_ABSENT, "%s:%u: no CDI spec has a device of kind %s (gpuhelperctl cdi list)%s%s%s",
	    policy, r->line, r->kind, colon, absent, given);
}

static int
refuse_no_gpu(const struct trial *t, const struct gpu_rule *r, size_t have)
{
	const char *absent = t->give.inv->absent[r->vendor];
	size_t i;

	for (i = 0; i < t->give.inv->gpus; i++)
		if (gpu_rule_names(r, &t->give.inv->gpu[i]) && !gpu_is_within(t->requested->bound, &t->give.inv->gpu[i]))
			return refuse(t->give.why, WHY_DENIED, "%s:%u: the workload manager let this worker have %zu of the GPUs that "
			    "this rule names (%s in its environment)", t->give.policy->name, r->line, have,
			    t->give.inv->gpu[i].vendor == GPU_AMD ? "ROCR_VISIBLE_DEVICES" : "CUDA_VISIBLE_DEVICES");
	if (r->kind != NULL)
		return refuse_no_cdi_device(t, r, have);
	if (absent[0] != '\0')
		return refuse(t->give.why, WHY_ABSENT, "%s:%u: no %s GPU can be granted: %s", t->give.policy->name, r->line,
		    gpu_rule_vendor(r), absent);
	for (i = 0; i < t->give.inv->gpus && !r->whole_mig; i++)
		if (t->give.inv->gpu[i].has_instances && gpu_rule_names(r, &t->give.inv->gpu[i]))
			return refuse_instances(t, r, &t->give.inv->gpu[i]);
	return refuse(t->give.why, WHY_ABSENT, "%s:%u: this host has %zu of the %s GPUs that this rule names (gpuhelperctl "
	    "devices lists them)", t->give.policy->name, r->line, have, gpu_rule_vendor(r));
}

/* Wants all GPUs that the policy lists. */
static int
want_all_gpus(const struct trial *t)
{
	const struct gpu_rule *r;
	size_t i, have;

	for (i = 0; i < t->give.policy->gpus; i++) {
		r = &t->give.policy->gpu[i];
		if ((have = count_candidates(t, r, NULL)) == 0)
			return refuse_no_gpu(t, r, 0);
		if (add_want(t, r, have < r->count ? (unsigned)have : r->count, NULL) == -1)
			return -1;
	}
	return 0;
}

/*
 * The GPU with this name; NULL if this host has none. Each vendor's GPUs have ranks of their own, so a rank may be that
 * of several GPUs: one of a vendor that the policy gives comes first.
 */
static const struct gpu *
find_named(const struct trial *t, const char *id)
{
	const struct gpu *first = NULL, *g;
	size_t i, k;

	for (i = 0; i < t->give.inv->gpus; i++) {
		if (!gpu_is_named(g = &t->give.inv->gpu[i], id, false))
			continue;
		for (k = 0; k < t->give.policy->gpus; k++)
			if (is_candidate(t, &t->give.policy->gpu[k], g))
				return g;
		first = first != NULL ? first : g;
	}
	return first;
}

static int
want_id(const struct trial *t, const char *id)
{
	const struct narrowing one = { .only = find_named(t, id) };
	const struct gpu *g = one.only;
	const struct gpu_rule *r;
	size_t i;

	if (g == NULL)
		return refuse(t->give.why, WHY_ABSENT, "%s: this host has no GPU \"%s\" of a vendor that this policy gives "
		    "(gpuhelperctl devices lists them)", t->give.policy->name, id);
	/* if one GPU is asked for by two names, the second want would wait for the first one's GPU */
	for (i = 0; i < t->give.out->gpus; i++)
		if (t->give.out->gpu[i].n == 1 && t->give.out->gpu[i].candidate[0] == g)
			return refuse(t->give.why, WHY_DATA, "GPUHELPER_GPUS names GPU %s twice, as \"%s\" too", g->pci, id);
	for (i = 0; i < t->give.policy->gpus; i++) {
		r = &t->give.policy->gpu[i];
		if (is_candidate(t, r, g) && give_used(&t->give, r) < r->count)
			return add_want(t, r, 1, &one);
	}
	if (!gpu_is_within(t->requested->bound, g))
		return refuse(t->give.why, WHY_DENIED, "%s: the workload manager did not let this worker have GPU \"%s\"",
		    t->give.policy->name, id);
	if (g->has_instances)
		return refuse(t->give.why, WHY_DENIED, "%s: GPU \"%s\" has MIG instances, and is not given as a whole: ask for one "
		    "of those (gpuhelperctl devices lists them)", t->give.policy->name, id);
	if (g->unusable[0] != '\0')
		return refuse(t->give.why, WHY_ABSENT, "%s: GPU \"%s\" can't be given: %s", t->give.policy->name, id, g->unusable);
	return refuse(t->give.why, WHY_DENIED, "%s: it does not give GPU \"%s\", or not that many", t->give.policy->name, id);
}

static int
want_count(const struct trial *t, const struct requested_count *c)
{
	const struct narrowing by = { .has_vendor = c->has_vendor, .vendor = c->vendor };
	unsigned left = c->n, room, allowed = 0;
	const struct gpu_rule *r, *short_of = NULL;
	size_t i, have, short_have = 0;

	for (i = 0; i < t->give.policy->gpus && left > 0; i++) {
		r = &t->give.policy->gpu[i];
		if (c->has_vendor && (gpu_rule_vendors(r) & 1U << c->vendor) == 0)
			continue;
		room = r->count - give_used(&t->give, r);
		room = room < left ? room : left;
		allowed += room;
		have = count_candidates(t, r, &by);
		have = have > give_used(&t->give, r) ? have - give_used(&t->give, r) : 0;
		if (have < room) {
			short_of = r;
			short_have = have;
			room = (unsigned)have;
		}
		if (room > 0 && add_want(t, r, room, &by) == -1)
			return -1;
		left -= room;
	}
	if (left == 0)
		return 0;
	if (short_of != NULL)
		return refuse_no_gpu(t, short_of, short_have);
	return refuse(t->give.why, WHY_DENIED, "%s: %u %s%sGPU%s asked for, and it gives a container at most %u",
	    t->give.policy->name, c->n,
	    c->has_vendor ? gpu_vendor_name(c->vendor) : "", c->has_vendor ? " " : "", c->n == 1 ? "" : "s", allowed);
}

static int
want_gpus(const struct trial *t)
{
	size_t i;

	if (t->requested->everything)
		return want_all_gpus(t);
	if (t->requested->all_gpus) {
		if (t->give.policy->gpus == 0)
			return refuse(t->give.why, WHY_DENIED, "%s: it gives no GPUs", t->give.policy->name);
		return want_all_gpus(t);
	}
	for (i = 0; i < t->requested->gpu_ids.n; i++)
		if (want_id(t, t->requested->gpu_ids.v[i]) == -1)
			return -1;
	for (i = 0; i < t->requested->counts; i++)
		if (want_count(t, &t->requested->count[i]) == -1)
			return -1;
	return 0;
}

static int
want_folder(const struct trial *t, const struct requested_folder *f)
{
	const struct folder_rule *r, *best = NULL;
	const char *rest;
	size_t i;

	for (i = 0; i < t->give.policy->folders; i++) {
		r = &t->give.policy->folder[i];
		if (folder_rule_gives(r, f->path, &rest) && (best == NULL || (r->writable && !best->writable)))
			best = r;
	}
	if (best == NULL)
		return refuse(t->give.why, WHY_DENIED, "%s: it does not give folder %s", t->give.policy->name, f->path);
	if (f->access == REQUESTED_RW && !best->writable)
		return refuse(t->give.why, WHY_DENIED, "%s:%u: it gives folder %s read-only, and rw was asked for",
		    t->give.policy->name, best->line, f->path);
	return give_folder(&t->give, best, f->path, best->writable && f->access != REQUESTED_RO);
}

/* Wants all folders that the policy lists. Patterns stay patterns: host/folder/folders.c finds what exists. */
static int
want_all_folders(const struct trial *t)
{
	const struct policy *p = t->give.policy;
	size_t i;

	for (i = 0; i < p->folders; i++)
		if (give_folder(&t->give, &p->folder[i], NULL, p->folder[i].writable) == -1)
			return -1;
	return 0;
}

static int
want_folders(const struct trial *t)
{
	size_t i;

	if (t->requested->everything)
		return want_all_folders(t);
	if (t->requested->all_folders) {
		if (t->give.policy->folders == 0)
			return refuse(t->give.why, WHY_DENIED, "%s: it gives no folders", t->give.policy->name);
		return want_all_folders(t);
	}
	for (i = 0; i < t->requested->folders; i++)
		if (want_folder(t, &t->requested->folder[i]) == -1)
			return -1;
	return 0;
}

enum verdict_kind
policy_decide(const struct policy *p, const struct client *who, const struct requested *requested,
    const struct inventory *inv, const struct settings *settings, struct grant *out, struct why *why)
{
	const struct trial t = { { p, who, inv, settings, out, why }, requested };

	*out = (struct grant){ 0 };
	if (requested->privileged && !policy_lets_privileged(p, why))
		return VERDICT_LACKS;
	/* keep this order: the refusal names what the policy forbids before what the host lacks */
	if (want_folders(&t) == -1 || want_gpus(&t) == -1)
		return VERDICT_LACKS;
	return VERDICT_GRANT;
}
