/* See policydecide.h. Computes only. */
#include "policydecide.h"

#include <stdlib.h>
#include <string.h>

#include "../gpu/gpufind.h"
#include "gpurule.h"

bool
policy_lists(const struct policy *p, const struct client *who, struct why *why)
{
	if (p->has_callers ? who->user != NULL && strlist_has(&p->callers, who->user) : who->member)
		return true;
	if (p->has_callers)
		refuse(why, WHY_DENIED, "%s: user %s is not among its callers", p->name, who->user ? who->user : "(without a name)");
	else
		refuse(why, WHY_DENIED, "%s: the caller is not in group gpuhelper", p->name);
	return false;
}

bool
policy_takes(const struct policy *p, const struct identity *id, const struct settings *s, struct why *why)
{
	if (p->identity == IDENTITY_CALLER)
		return true;
	if (id->kind == IDENTITY_CALLER || id->team == NULL || id->pipeline == NULL) {
		refuse(why, WHY_DENIED, "%s: it requires identity \"%s\", and the container has none", p->name,
		    identity_name(p->identity));
		return false;
	}
	if (p->identity == IDENTITY_TOKEN && id->kind != IDENTITY_TOKEN) {
		refuse(why, WHY_DENIED, "%s: it requires a token, and a claim is not one", p->name);
		return false;
	}
	/* each issuer can sign the name of any pipeline, another issuer's too */
	if (p->identity == IDENTITY_TOKEN && p->issuer == NULL && s->several_issuers) {
		refuse(why, WHY_DENIED, "%s: gpuhelper.conf has several issuers, and the policy does not say whose tokens it "
		    "accepts: add issuer = \"URL\" there", p->name);
		return false;
	}
	if (p->issuer != NULL && (id->issuer == NULL || strcmp(p->issuer, id->issuer) != 0)) {
		refuse(why, WHY_DENIED, "%s: it accepts only tokens of issuer %s", p->name, p->issuer);
		return false;
	}
	return true;
}

bool
policy_lets_privileged(const struct policy *p, struct why *why)
{
	if (p->privileged)
		return true;
	refuse(why, WHY_DENIED, "%s: it does not say privileged = true, and " PRIVILEGED_DENIED, p->name);
	return false;
}

unsigned
policy_vendors(const struct policy *p)
{
	/* other GPUs of NVIDIA are hidden from the container, even from one that gets another vendor's */
	unsigned mask = p->gpus > 0 ? 1U << GPU_NVIDIA : 0;
	size_t i;

	for (i = 0; i < p->gpus; i++)
		mask |= gpu_rule_vendors(&p->gpu[i]);
	return mask;
}

unsigned
policies_vendors(const struct policy_set *s, const struct client *who)
{
	unsigned vendors = 0;
	struct why ignored;
	size_t i;

	for (i = 0; i < s->n; i++)
		if (s->v[i].broken == NULL && policy_lists(&s->v[i].policy, who, &ignored))
			vendors |= policy_vendors(&s->v[i].policy);
	return vendors;
}

bool
policies_of(const struct policy_set *all, const struct client *who, struct policy_set *out)
{
	struct why ignored;
	size_t i;

	*out = (struct policy_set){ calloc(all->n + 1, sizeof(*out->v)), 0 };
	for (i = 0; out->v != NULL && i < all->n; i++) {
		if (all->v[i].broken == NULL && !policy_lists(&all->v[i].policy, who, &ignored))
			continue;
		out->v[out->n] = all->v[i];
		out->v[out->n++].policy.env = (struct strlist){ 0 };
	}
	return out->v != NULL;
}

bool
gpu_rule_gives(const struct gpu_rule *r, const struct gpu *g, const struct settings *s)
{
	if (g->unusable[0] != '\0' || (g->integrated && !s->allow_integrated))
		return false;
	if (g->part[0] == '\0' ? g->has_instances && !r->whole_mig : r->whole_mig)
		return false;
	return gpu_rule_names(r, g) && (r->devices.n > 0 || gpu_is_named(g, "all", false));
}

unsigned
give_used(const struct giving *t, const struct gpu_rule *r)
{
	unsigned n = 0;
	size_t i;

	for (i = 0; i < t->out->gpus; i++)
		n += t->out->gpu[i].rule == r ? t->out->gpu[i].count : 0;
	return n;
}

/* Checks that this caller's containers can be held to some GPUs, which takes a device cgroup. */
static int
check_rootful(const struct giving *t, const struct gpu_rule *r, unsigned count)
{
	size_t i, all = 0, may = 0;

	if (t->who->rootful || t->settings->unenforced)
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

int
give_gpus(const struct giving *t, const struct gpu_rule *r, unsigned count, const struct gpu *const *candidate,
    size_t n)
{
	struct gpu_grant *v;

	if (check_rootful(t, r, count) == -1)
		return -1;
	if ((v = reallocarray(t->out->gpu, t->out->gpus + 1, sizeof(*v))) == NULL)
		return refuse_nomem(t->why);
	t->out->gpu = v;
	v += t->out->gpus++;
	*v = (struct gpu_grant){ .rule = r, .count = count, .n = n };
	memcpy(v->candidate, candidate, n * sizeof(*candidate));
	if (t->out->gpus == 1 || r->wait < t->out->wait)
		t->out->wait = r->wait < t->settings->max_wait ? r->wait : t->settings->max_wait;
	return 0;
}

const struct policy *
policy_of_name(const struct policy_set *s, const char *name)
{
	size_t i = 0;

	while (strcmp(s->v[i].policy.name, name) != 0)
		i++;
	return &s->v[i].policy;
}
