/* See table.h: gpuhelper.conf and the policies. */
#include "table.h"

void
issuer_lines(struct lines *t, struct issuer_setting *i)
{
	struct issuer_claims *c = &i->claims;

	word_u32(t, &i->line);
	word_copy(t, &i->url);
	word_copy(t, &i->audience);
	word_copy(t, &i->keys);
	word_u32(t, &i->max_age);
	word_u32(t, &i->keys_max_age);
	word_bool(t, &i->reuse);
	word_copy_if_any(t, &i->variable);
	word_copy_if_any(t, &c->team);
	word_copy_if_any(t, &c->pipeline);
	word_copy_if_any(t, &c->job);
	word_copy_if_any(t, &c->reuse_by);
	word_u32(t, &c->bytes);
	claim_set_lines(t, "require", &c->require);
	lines_begin(t, "wanted");
	words_list(t, &c->wanted);
}

static void
issuer_member(struct lines *t, void *member)
{
	issuer_lines(t, member);
}

void
settings_lines(struct lines *t, struct settings *s)
{
	lines_begin(t, "runtime");
	word_copy_if_any(t, &s->runtime);
	lines_begin(t, "volumes");
	words_list(t, &s->volumes);
	lines_begin(t, "placeholders");
	words_list(t, &s->placeholder_init);
	lines_begin(t, "tasks");
	words_list(t, &s->task_execs);
	lines_begin(t, "shares");
	words_list(t, &s->team_shares);
	lines_begin(t, "choices");
	s->privileged = (enum privileged)word_index(t, s->privileged, PRIVILEGED_ALLOW + 1);
	s->driver_files = (enum driver_files)word_index(t, s->driver_files, DRIVER_FILES_VENDOR_RUNTIME + 1);
	s->door = (enum door_setting)word_index(t, s->door, DOOR_BY_SETUID + 1);
	s->idle = (enum idle_setting)word_index(t, s->idle, IDLE_KEEP + 1);
	lines_begin(t, "switches");
	word_bool(t, &s->cdi_hooks);
	word_bool(t, &s->respect_allocation);
	word_bool(t, &s->grant_unasked);
	word_bool(t, &s->allow_integrated);
	word_bool(t, &s->unenforced);
	word_bool(t, &s->audit_plain);
	word_bool(t, &s->plain_container);
	lines_begin(t, "seconds");
	word_u32(t, &s->max_wait);
	word_u32(t, &s->left_behind);
	lines_members(t, "issuer", (void **)&s->issuer, &s->issuers, ISSUERS_MAX, sizeof(*s->issuer), issuer_member);
	s->several_issuers = s->issuers > 1;
}

void
gpu_rule_words(struct lines *t, void *rule)
{
	struct gpu_rule *r = rule;

	word_u32(t, &r->line);
	word_bool(t, &r->has_vendor);
	r->vendor = (enum gpu_vendor)word_index(t, r->vendor, GPU_VENDORS);
	word_copy_if_any(t, &r->kind);
	word_u32(t, &r->devices_line);
	word_u32(t, &r->count);
	r->sharing = (enum sharing)word_index(t, r->sharing, SHARING_SHARED + 1);
	word_u32(t, &r->share_limit);
	word_u32(t, &r->wait);
	word_u32(t, &r->capabilities);
	word_bool(t, &r->whole_mig);
	word_u32(t, &r->nodes);
	word_u32(t, &r->nodes_line);
	word_bool(t, &r->one_channel);
	word_u32(t, &r->channel);
	word_bool(t, &r->mps);
	words_list(t, &r->devices);
}

static void
folder_rule_words(struct lines *t, void *member)
{
	struct folder_rule *r = member;

	word_u32(t, &r->line);
	word_copy(t, &r->path);
	word_bool(t, &r->writable);
	word_copy_if_any(t, &r->target);
	word_bool(t, &r->subfolders);
	word_bool(t, &r->submounts);
	r->relabel = (enum relabel)word_index(t, r->relabel, RELABEL_PRIVATE + 1);
}

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
	lines_begin(t, "quota");
	word_u32(t, &p->max_gpus);
	word_u32(t, &p->max_waiting);
	word_u32(t, &p->priority);
	lines_members(t, "gpu", (void **)&p->gpu, &p->gpus, GPU_RULES_MAX, sizeof(*p->gpu), gpu_rule_words);
	lines_members(t, "folder", (void **)&p->folder, &p->folders, FOLDER_RULES_MAX, sizeof(*p->folder), folder_rule_words);
	lines_begin(t, "selinux");
	word_copy_if_any(t, &p->selinux_type);
	word_copy_if_any(t, &p->selinux_level);
	lines_begin(t, "env");
	words_list(t, &p->env);
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
