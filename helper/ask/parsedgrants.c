/* See parsed.h: what a policy gives. */
#include "parsed.h"

void
gpu_rule_fields(struct lines *t, void *rule)
{
	struct gpu_rule *r = rule;

	field_u32(t, &r->line);
	field_bool(t, &r->has_vendor);
	r->vendor = (enum gpu_vendor)field_index(t, r->vendor, GPU_VENDORS);
	field_copy_if_any(t, &r->kind);
	field_u32(t, &r->devices_line);
	field_u32(t, &r->count);
	r->sharing = (enum sharing)field_index(t, r->sharing, SHARING_SHARED + 1);
	field_u32(t, &r->share_limit);
	field_u32(t, &r->wait);
	field_u32(t, &r->capabilities);
	field_bool(t, &r->whole_mig);
	field_u32(t, &r->nodes);
	field_u32(t, &r->nodes_line);
	field_bool(t, &r->one_channel);
	field_u32(t, &r->channel);
	field_bool(t, &r->mps);
	fields_list(t, &r->devices);
}

void
folder_rule_fields(struct lines *t, void *rule)
{
	struct folder_rule *r = rule;

	field_u32(t, &r->line);
	field_copy(t, &r->path);
	field_bool(t, &r->writable);
	field_copy_if_any(t, &r->target);
	field_bool(t, &r->subfolders);
	field_bool(t, &r->submounts);
	r->relabel = (enum relabel)field_index(t, r->relabel, RELABEL_PRIVATE + 1);
}

void
policy_grants_lines(struct lines *t, struct policy *p)
{
	lines_begin(t, "quota");
	field_u32(t, &p->max_gpus);
	field_u32(t, &p->max_waiting);
	field_u32(t, &p->priority);
	lines_members(t, "gpu", (void **)&p->gpu, &p->gpus, GPU_RULES_MAX, sizeof(*p->gpu), gpu_rule_fields);
	lines_members(t, "folder", (void **)&p->folder, &p->folders, FOLDER_RULES_MAX, sizeof(*p->folder), folder_rule_fields);
	lines_begin(t, "selinux");
	field_copy_if_any(t, &p->selinux_type);
	field_copy_if_any(t, &p->selinux_level);
	lines_begin(t, "env");
	fields_list(t, &p->env);
}

void
writer_lines(struct lines *t, void *member)
{
	struct policy_entry *e = member;
	struct policy *p = &e->policy;

	field_copy(t, &p->name);
	field_copy_if_any(t, &e->broken);
	lines_members(t, "writes", (void **)&p->folder, &p->folders, FOLDER_RULES_MAX, sizeof(*p->folder), folder_rule_fields);
}
