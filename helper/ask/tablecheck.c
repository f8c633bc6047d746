/* See tablecheck.h. */
#include "tablecheck.h"

#include <string.h>

#include "../base/cleanup.h"
#include "../base/path.h"
#include "../gpu/extranode.h"
#include "../gpu/vendorvars.h"
#include "../kernel/secontext.h"
#include "../policy/claims.h"
#include "../policy/usage.h"

#define SECONDS_MAX 86400
#define EXTRA_WORDS ((EXTRA_NVSWITCH << 1) - 1)

static int
refuse_table(const char *file, const char *what, struct why *why)
{
	return refuse(why, WHY_BUG, "gpuhelper-read reports %.100s with %.200s, which it should have refused", file, what);
}

static bool
are_paths(const struct strlist *l)
{
	struct why ignored;
	size_t i;

	for (i = 0; i < l->n; i++)
		if (path_check(l->v[i], &ignored) == -1)
			return false;
	return true;
}

static int
check_table_settings(const struct settings *s, struct why *why)
{
	const struct issuer_setting *issuer;
	struct why ignored;
	size_t i;

	if (!are_paths(&s->volumes) || strlist_has(&s->volumes, "/") || !are_paths(&s->placeholder_init) ||
	    (s->runtime != NULL && path_check(s->runtime, &ignored) == -1))
		return refuse_table("gpuhelper.conf", "an invalid path", why);
	for (i = 0; i < s->team_shares.n; i++)
		if (!usage_is_share(s->team_shares.v[i]))
			return refuse_table("gpuhelper.conf", "an invalid share", why);
	if (s->max_wait > SECONDS_MAX ||
	    (s->left_behind > SECONDS_MAX && s->left_behind != LEFT_BEHIND_KEEP))
		return refuse_table("gpuhelper.conf", "a time of more than a day", why);
	for (i = 0; i < s->issuers; i++) {
		issuer = &s->issuer[i];
		if (!text_starts(issuer->url, "https://") || *issuer->audience == '\0' ||
		    path_check(issuer->keys, &ignored) == -1 || issuer->max_age == 0 || issuer->max_age > SECONDS_MAX ||
		    issuer->claims.bytes > TOKEN_MAX || (issuer->reuse && issuer->claims.reuse_by != NULL))
			return refuse_table("gpuhelper.conf", "an invalid issuer", why);
	}
	return 0;
}

static bool
is_rule(const struct gpu_rule *r)
{
	return r->has_vendor && r->count >= 1 && r->count <= 64 && r->wait <= SECONDS_MAX && r->share_limit <= 1024 &&
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

static int
check_table_policy(const struct policy *p, struct why *why)
{
	const bool for_pipeline = p->identity != IDENTITY_CALLER;
	size_t i;

	if ((p->team != NULL) != for_pipeline || (p->pipeline != NULL) != for_pipeline ||
	    (!for_pipeline && (p->has_jobs || p->instance_vars.there)) ||
	    ((p->issuer != NULL || p->privileged) && p->identity != IDENTITY_TOKEN) ||
	    (p->claims.name.n > 0 && p->issuer == NULL))
		return refuse_table(p->name, "an invalid identity", why);
	for (i = 0; i < p->gpus; i++)
		if (!is_rule(&p->gpu[i]))
			return refuse_table(p->name, "an invalid gpus entry", why);
	if (!has_quotas(p))
		return refuse_table(p->name, "an invalid max_gpus, max_waiting or priority", why);
	for (i = 0; i < p->folders; i++)
		if (!is_folder(&p->folder[i]))
			return refuse_table(p->name, "an invalid folder", why);
	if (!is_label(p) || !is_env(&p->env))
		return refuse_table(p->name, "an invalid label or variable", why);
	return 0;
}

int
table_check(const struct settings *s, const struct policy_set *p, struct why *why)
{
	size_t i;

	if (check_table_settings(s, why) == -1)
		return -1;
	for (i = 0; i < p->n; i++)
		if (p->v[i].broken == NULL && check_table_policy(&p->v[i].policy, why) == -1)
			return -1;
	return 0;
}
