/*
 * See match.h.  No system calls, so that gpuhelperctl explain and the fuzzers
 * run the same decision as root does.
 */
#include "match.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "path.h"

static bool
covers_caller(const struct policy *p, const struct asker *who, struct why *why)
{
	if (!p->has_callers) {
		if (who->member)
			return true;
		refuse(why, WHY_DENIED, "%s: the caller is not in group gpuhelper", p->name);
		return false;
	}
	if (who->user != NULL && strlist_has(&p->callers, who->user))
		return true;
	refuse(why, WHY_DENIED, "%s: user %s is not among its callers", p->name, who->user ? who->user : "(without a name)");
	return false;
}

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

/* But for the job and the instance variables. */
static bool
covers_pipeline(const struct policy *p, const struct asker *who, const struct identity *id, struct why *why)
{
	if (!covers_caller(p, who, why))
		return false;
	if (p->identity == IDENTITY_CALLER)
		return true;
	if (id->kind == IDENTITY_CALLER || id->team == NULL || id->pipeline == NULL) {
		refuse(why, WHY_DENIED, "%s: it asks for identity \"%s\", and the container brought none", p->name,
		    identity_name(p->identity));
		return false;
	}
	if (p->identity == IDENTITY_TOKEN && id->kind != IDENTITY_TOKEN) {
		refuse(why, WHY_DENIED, "%s: it asks for a token, and a claim is none", p->name);
		return false;
	}
	if (p->issuer != NULL && (id->issuer == NULL || strcmp(p->issuer, id->issuer) != 0)) {
		refuse(why, WHY_DENIED, "%s: it takes tokens of issuer %s", p->name, p->issuer);
		return false;
	}
	if (!glob_match(p->team, id->team) || !glob_match(p->pipeline, id->pipeline)) {
		refuse(why, WHY_DENIED, "%s: it is for pipeline %s/%s", p->name, p->team, p->pipeline);
		return false;
	}
	return true;
}

bool
policy_covers(const struct policy *p, const struct asker *who, const struct identity *id, struct why *why)
{
	return covers_pipeline(p, who, id, why) && (p->identity == IDENTITY_CALLER ||
	    (covers_job(p, id, why) && covers_instance(p, id, why)));
}

const char *
policy_misses(const struct policy *p, const struct asker *who, const struct identity *id)
{
	struct why ignored;

	if (p->identity == IDENTITY_CALLER || !covers_pipeline(p, who, id, &ignored))
		return NULL;
	if (!covers_job(p, id, &ignored))
		return "this job";
	return covers_instance(p, id, &ignored) ? NULL : "these instance variables";
}

unsigned
policy_vendors(const struct policy *p)
{
	unsigned mask = 0;
	size_t i;

	for (i = 0; i < p->gpus; i++)
		mask |= gpu_rule_vendors(&p->gpu[i]);
	return mask;
}

unsigned
policies_vendors(const struct policy_set *s)
{
	unsigned vendors = 0;
	size_t i;

	for (i = 0; i < s->n; i++)
		if (s->v[i].broken == NULL && s->v[i].policy.gpus > 0)
			/* of NVIDIA's there is something to hide from whoever has others */
			vendors |= policy_vendors(&s->v[i].policy) | 1U << GPU_NVIDIA;
	return vendors;
}

void
grant_free(struct grant *g)
{
	size_t i;

	for (i = 0; i < g->folders; i++) {
		free(g->folder[i].path);
		free(g->folder[i].target);
		free(g->folder[i].base);
	}
	free(g->folder);
	free(g->gpu);
	*g = (struct grant){ 0 };
}

/* Everything that one call of policy_allows() works on. */
struct trial {
	const struct policy *policy;
	const struct asker *who;
	const struct ask *ask;
	const struct inventory *inv;
	const struct settings *settings;
	struct grant *out;
	struct why *why;
};

/* Did a workload manager let the worker have it?  Nothing is known of who has none. */
static bool
is_within_bound(const struct ask *a, const struct gpu *g)
{
	const struct gpu_bound *b = &a->bound[g->vendor];
	size_t i;

	for (i = 0; i < b->names.n; i++)
		if (gpu_is_named(g, b->names.v[i], true))
			return true;
	return !b->set;
}

/* May this rule give this GPU? */
static bool
is_candidate(const struct trial *t, const struct gpu_rule *r, const struct gpu *g)
{
	if (g->unusable[0] != '\0')
		return false;
	if ((g->integrated && !t->settings->allow_integrated) || !is_within_bound(t->ask, g))
		return false;
	if (g->part[0] == '\0' ? g->mig && !r->whole_mig : r->whole_mig)
		return false;
	return gpu_rule_names(r, g) && (r->devices.n > 0 || gpu_is_named(g, "all", false));
}

/* What an ask leaves of a rule's candidates: one GPU, those of one vendor, or (NULL) all. */
struct narrowing {
	const struct gpu *only;
	bool has_vendor;
	enum gpu_vendor vendor;
};

static bool
is_wanted(const struct trial *t, const struct gpu_rule *r, const struct narrowing *by, const struct gpu *g)
{
	if (by != NULL && by->only != NULL)
		return g == by->only;
	return is_candidate(t, r, g) && (by == NULL || !by->has_vendor || by->vendor == g->vendor);
}

static size_t
count_candidates(const struct trial *t, const struct gpu_rule *r, const struct narrowing *by)
{
	size_t i, n = 0;

	for (i = 0; i < t->inv->gpus; i++)
		n += is_wanted(t, r, by, &t->inv->gpu[i]);
	return n;
}

/* What a host without a device cgroup can't hold a container to. */
static int
check_enforced(const struct trial *t, const struct gpu_rule *r, unsigned count)
{
	size_t i, all = 0, may = 0;

	if (t->who->enforced || t->settings->unenforced)
		return 0;
	if (r->sharing == SHARING_EXCLUSIVE)
		return refuse(t->why, WHY_DENIED, "%s:%u: without a device cgroup (rootless) nothing holds a GPU to one "
		    "container: say sharing = \"shared\" there, or unenforced = \"allow\" in gpuhelper.conf",
		    t->policy->name, r->line);
	for (i = 0; i < t->inv->gpus; i++) {
		if (t->inv->gpu[i].vendor != GPU_AMD)
			continue;
		all++;
		may += gpu_rule_names(r, &t->inv->gpu[i]);
	}
	if (may > 0 && count < all)
		return refuse(t->why, WHY_DENIED, "%s:%u: without a device cgroup (rootless) /dev/kfd gives every AMD GPU or "
		    "none: ask for all, or say unenforced = \"allow\" in gpuhelper.conf", t->policy->name, r->line);
	return 0;
}

/* Adds a want of «count» of the rule's candidates. */
static int
add_want(const struct trial *t, const struct gpu_rule *r, unsigned count, const struct narrowing *by)
{
	struct gpu_want *v, *w;
	size_t i;

	if (check_enforced(t, r, count) == -1)
		return -1;
	if ((v = reallocarray(t->out->gpu, t->out->gpus + 1, sizeof(*v))) == NULL)
		return refuse_nomem(t->why);
	t->out->gpu = v;
	w = &v[t->out->gpus++];
	*w = (struct gpu_want){ .rule = r, .count = count };
	for (i = 0; i < t->inv->gpus && w->n < sizeof(w->candidate) / sizeof(w->candidate[0]); i++)
		if (is_wanted(t, r, by, &t->inv->gpu[i]))
			w->candidate[w->n++] = &t->inv->gpu[i];
	if (t->out->gpus == 1 || r->wait < t->out->wait)
		t->out->wait = r->wait < t->settings->max_wait ? r->wait : t->settings->max_wait;
	return 0;
}

/* How many GPUs of a rule are asked for already. */
static unsigned
used_of(const struct trial *t, const struct gpu_rule *r)
{
	unsigned n = 0;
	size_t i;

	for (i = 0; i < t->out->gpus; i++)
		n += t->out->gpu[i].rule == r ? t->out->gpu[i].count : 0;
	return n;
}

/* The specs' names are all that a rule of a CDI kind has to go by. */
static int
no_cdi_device_here(const struct trial *t, const struct gpu_rule *r, size_t have)
{
	if (t->inv->cdi_problem[0] != '\0')
		return refuse(t->why, WHY_CONFIG, "%s:%u: no %s device to give, and a CDI spec can't be used: %s",
		    t->policy->name, r->line, r->kind, t->inv->cdi_problem);
	return refuse(t->why, WHY_ABSENT, "%s:%u: of the %s devices that this rule names, %zu are in the CDI specs and a "
	    "GPU of this host (see gpuhelperctl cdi list, gpuhelperctl devices)", t->policy->name, r->line, r->kind, have);
}

static int
no_gpu_here(const struct trial *t, const struct gpu_rule *r, size_t have)
{
	const char *absent = t->inv->absent[r->vendor];
	size_t i;

	for (i = 0; i < t->inv->gpus; i++)
		if (gpu_rule_names(r, &t->inv->gpu[i]) && !is_within_bound(t->ask, &t->inv->gpu[i]))
			return refuse(t->why, WHY_DENIED, "%s:%u: of the GPUs that this rule names the workload manager let this "
			    "worker have %zu (%s in its environment)", t->policy->name, r->line, have,
			    t->inv->gpu[i].vendor == GPU_AMD ? "ROCR_VISIBLE_DEVICES" : "CUDA_VISIBLE_DEVICES");
	if (r->kind != NULL)
		return no_cdi_device_here(t, r, have);
	if (absent[0] != '\0')
		return refuse(t->why, WHY_ABSENT, "%s:%u: no %s GPU to give: %s", t->policy->name, r->line,
		    gpu_rule_vendor(r), absent);
	for (i = 0; i < t->inv->gpus && !r->whole_mig; i++)
		if (t->inv->gpu[i].mig && gpu_rule_names(r, &t->inv->gpu[i]))
			return refuse(t->why, WHY_ABSENT, "%s:%u: GPU %s has MIG instances: name those (gpuhelperctl devices lists "
			    "them), or say mig = \"whole\"", t->policy->name, r->line, t->inv->gpu[i].pci);
	return refuse(t->why, WHY_ABSENT, "%s:%u: this host has %zu of the %s GPUs that this rule names (gpuhelperctl devices "
	    "lists them)", t->policy->name, r->line, have, gpu_rule_vendor(r));
}

/* All that the policy lists. */
static int
want_all(const struct trial *t)
{
	const struct gpu_rule *r;
	size_t i, have;

	for (i = 0; i < t->policy->gpus; i++) {
		r = &t->policy->gpu[i];
		if ((have = count_candidates(t, r, NULL)) == 0)
			return no_gpu_here(t, r, 0);
		if (add_want(t, r, have < r->count ? (unsigned)have : r->count, NULL) == -1)
			return -1;
	}
	return 0;
}

static int
want_id(const struct trial *t, const char *id)
{
	struct narrowing one = { 0 };
	const struct gpu_rule *r;
	const struct gpu *g = NULL;
	size_t i;

	for (i = 0; i < t->inv->gpus; i++)
		if (gpu_is_named(&t->inv->gpu[i], id, false)) {
			one.only = g = &t->inv->gpu[i];
			break;
		}
	if (g == NULL)
		return refuse(t->why, WHY_ABSENT, "%s: this host has no GPU \"%s\" of a vendor that this policy gives "
		    "(gpuhelperctl devices lists them)", t->policy->name, id);
	/* by two of its names: the second would wait for what the first one has */
	for (i = 0; i < t->out->gpus; i++)
		if (t->out->gpu[i].n == 1 && t->out->gpu[i].candidate[0] == g)
			return refuse(t->why, WHY_DATA, "GPUHELPER_GPUS names GPU %s twice, as \"%s\" too", g->pci, id);
	for (i = 0; i < t->policy->gpus; i++) {
		r = &t->policy->gpu[i];
		if (is_candidate(t, r, g) && used_of(t, r) < r->count)
			return add_want(t, r, 1, &one);
	}
	if (!is_within_bound(t->ask, g))
		return refuse(t->why, WHY_DENIED, "%s: the workload manager did not let this worker have GPU \"%s\"",
		    t->policy->name, id);
	if (g->mig)
		return refuse(t->why, WHY_DENIED, "%s: GPU \"%s\" has MIG instances, and is not given as a whole: ask for one of "
		    "those (gpuhelperctl devices lists them)", t->policy->name, id);
	if (g->unusable[0] != '\0')
		return refuse(t->why, WHY_ABSENT, "%s: GPU \"%s\" can't be given: %s", t->policy->name, id, g->unusable);
	return refuse(t->why, WHY_DENIED, "%s: it does not give GPU \"%s\", or not that many", t->policy->name, id);
}

static int
want_count(const struct trial *t, const struct ask_count *c)
{
	const struct narrowing by = { .has_vendor = c->has_vendor, .vendor = c->vendor };
	unsigned left = c->n, room, allowed = 0;
	const struct gpu_rule *r, *short_of = NULL;
	size_t i, have, short_have = 0;

	for (i = 0; i < t->policy->gpus && left > 0; i++) {
		r = &t->policy->gpu[i];
		if (c->has_vendor && (gpu_rule_vendors(r) & 1U << c->vendor) == 0)
			continue;
		room = r->count - used_of(t, r);
		room = room < left ? room : left;
		allowed += room;
		have = count_candidates(t, r, &by);
		have = have > used_of(t, r) ? have - used_of(t, r) : 0;
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
		return no_gpu_here(t, short_of, short_have);
	return refuse(t->why, WHY_DENIED, "%s: %u %s%sGPU%s asked for, and it gives a container at most %u",
	    t->policy->name, c->n,
	    c->has_vendor ? gpu_vendor_name(c->vendor) : "", c->has_vendor ? " " : "", c->n == 1 ? "" : "s", allowed);
}

static int
want_gpus(const struct trial *t)
{
	size_t i;

	if (t->ask->everything)
		return want_all(t);
	if (t->ask->all_gpus) {
		if (t->policy->gpus == 0)
			return refuse(t->why, WHY_DENIED, "%s: it gives no GPUs", t->policy->name);
		return want_all(t);
	}
	for (i = 0; i < t->ask->gpu_ids.n; i++)
		if (want_id(t, t->ask->gpu_ids.v[i]) == -1)
			return -1;
	for (i = 0; i < t->ask->counts; i++)
		if (want_count(t, &t->ask->count[i]) == -1)
			return -1;
	return 0;
}

static int
add_folder(const struct trial *t, const struct folder_rule *r, const char *path, char *target, bool writable)
{
	bool subfolder = !glob_is(r->path) && strcmp(path, r->path) != 0;
	char *copy = strdup(path), *base = subfolder ? strdup(r->path) : NULL;
	struct folder_want *v = NULL;

	if (copy == NULL || target == NULL || (subfolder && base == NULL) ||
	    (v = reallocarray(t->out->folder, t->out->folders + 1, sizeof(*v))) == NULL) {
		free(copy);
		free(base);
		free(target);
		return refuse_nomem(t->why);
	}
	t->out->folder = v;
	t->out->folder[t->out->folders++] = (struct folder_want){ .path = copy, .target = target, .base = base,
		.writable = writable, .submounts = r->submounts, .relabel = r->relabel };
	return 0;
}

/* Does the rule speak of this path?  *rest is what comes after the place that «target» stands for. */
static bool
folder_named(const struct folder_rule *r, const char *path, const char **rest)
{
	size_t dir;

	if (glob_is(r->path)) {
		dir = (size_t)(path_last(r->path) - r->path);
		/* a hidden folder has to be named: host/folders.c does not list it for a pattern either */
		if (strncmp(path, r->path, dir) != 0 || path[dir] == '.' || strchr(path + dir, '/') != NULL ||
		    !glob_match(r->path + dir, path + dir))
			return false;
		*rest = path + dir - 1;
		return true;
	}
	if (strcmp(path, r->path) != 0 && !(r->subfolders && path_is_beneath(path, r->path)))
		return false;
	*rest = path + strlen(r->path);
	return true;
}

static int
want_folder(const struct trial *t, const struct ask_folder *f)
{
	const struct folder_rule *r, *best = NULL;
	const char *rest = "", *best_rest = "";
	char *target = NULL;
	size_t i;

	for (i = 0; i < t->policy->folders; i++) {
		r = &t->policy->folder[i];
		if (folder_named(r, f->path, &rest) && (best == NULL || (r->writable && !best->writable))) {
			best = r;
			best_rest = rest;
		}
	}
	if (best == NULL)
		return refuse(t->why, WHY_DENIED, "%s: it does not give folder %s", t->policy->name, f->path);
	if (f->access == ASK_RW && !best->writable)
		return refuse(t->why, WHY_DENIED, "%s:%u: it gives folder %s read-only, and rw was asked for",
		    t->policy->name, best->line, f->path);
	if (best->target == NULL)
		target = strdup(f->path);
	else if (asprintf(&target, "%s%s", best->target, best_rest) == -1)
		target = NULL;
	return add_folder(t, best, f->path, target, best->writable && f->access != ASK_RO);
}

/* All that the policy lists: patterns stay patterns, host/folders.c sees what is there. */
static int
want_all_folders(const struct trial *t)
{
	const struct folder_rule *r;
	size_t i;

	for (i = 0; i < t->policy->folders; i++) {
		r = &t->policy->folder[i];
		if (add_folder(t, r, r->path, r->target != NULL ? strdup(r->target) : glob_is(r->path) ?
		    strndup(r->path, (size_t)(path_last(r->path) - r->path - 1)) : strdup(r->path), r->writable) == -1)
			return -1;
	}
	return 0;
}

static int
want_folders(const struct trial *t)
{
	size_t i;

	if (t->ask->everything)
		return want_all_folders(t);
	if (t->ask->all_folders) {
		if (t->policy->folders == 0)
			return refuse(t->why, WHY_DENIED, "%s: it gives no folders", t->policy->name);
		return want_all_folders(t);
	}
	for (i = 0; i < t->ask->folders; i++)
		if (want_folder(t, &t->ask->folder[i]) == -1)
			return -1;
	return 0;
}

enum verdict
policy_allows(const struct policy *p, const struct asker *who, const struct ask *ask, const struct inventory *inv,
    const struct settings *settings, struct grant *out, struct why *why)
{
	const struct trial t = { p, who, ask, inv, settings, out, why };

	*out = (struct grant){ 0 };
	/* an order that the refusal should keep: what policy forbids is told before what the host lacks */
	if (want_folders(&t) == -1 || want_gpus(&t) == -1)
		return VERDICT_LACKS;
	return VERDICT_GRANT;
}
