/* See parsedcheck.h: what a policy gives. */
#include "parsedcheck.h"

#include <string.h>

#include "../base/cleanup.h"
#include "../gpu/extranode.h"
#include "../gpu/vendorvars.h"
#include "../kernel/secontext.h"

#define EXTRA_WORDS ((EXTRA_NVSWITCH << 1) - 1)

static bool
is_rule(const struct gpu_rule *r)
{
	return r->has_vendor && r->count >= 1 && r->count <= 64 && r->wait <= TABLE_SECONDS_MAX && r->share_limit <= 1024 &&
	    (r->share_limit == 0 || r->sharing == SHARING_SHARED) && (r->capabilities & ~GPU_CAP_ALL) == 0 &&
	    (r->nodes == 0 || r->kind != NULL) && (r->nodes & ~(unsigned)EXTRA_WORDS) == 0 &&
	    r->channel <= IMEX_CHANNEL_MAX && (!r->one_channel || (r->nodes & EXTRA_IMEX) != 0);
}

static bool
has_quotas(const struct policy *p)
{
	return p->max_gpus <= QUOTA_MAX && p->max_waiting <= QUOTA_MAX && p->priority <= PRIORITY_MAX;
}

static bool
is_label(const struct policy *p)
{
	const enum level_kind kind = p->selinux_level != NULL ? level_kind(p->selinux_level) : LEVEL_PLAIN;

	return (p->selinux_type == NULL || secontext_is_type(p->selinux_type)) && (p->selinux_level == NULL ||
	    strcmp(p->selinux_level, "auto") == 0 || kind == LEVEL_PLAIN || kind == LEVEL_CATEGORIES);
}

static bool
is_env(const struct strlist *env)
{
	size_t i;

	for (i = 0; i < env->n; i++)
		if (strchr(env->v[i], '=') == NULL || *env->v[i] == '=' || text_starts(env->v[i], "GPUHELPER_") ||
		    vendor_env_owns(env->v[i]))
			return false;
	return true;
}

static bool
is_folder(const struct folder_rule *r)
{
	autofaults struct faults f = { 0 };

	folder_rule_check(r, &f);
	return f.errors == 0;
}

int
parsed_check_grants(const struct policy *p, struct why *why)
{
	size_t i;

	for (i = 0; i < p->gpus; i++)
		if (!is_rule(&p->gpu[i]))
			return parsed_refuse(p->name, "an invalid gpus entry", why);
	if (!has_quotas(p))
		return parsed_refuse(p->name, "an invalid max_gpus, max_waiting or priority", why);
	for (i = 0; i < p->folders; i++)
		if (!is_folder(&p->folder[i]))
			return parsed_refuse(p->name, "an invalid folder", why);
	if (!is_label(p) || !is_env(&p->env))
		return parsed_refuse(p->name, "an invalid label or variable", why);
	return 0;
}
