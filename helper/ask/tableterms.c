/* See table.h: what a policy gives. */
#include "table.h"

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

void
folder_rule_words(struct lines *t, void *rule)
{
	struct folder_rule *r = rule;

	word_u32(t, &r->line);
	word_copy(t, &r->path);
	word_bool(t, &r->writable);
	word_copy_if_any(t, &r->target);
	word_bool(t, &r->subfolders);
	word_bool(t, &r->submounts);
	r->relabel = (enum relabel)word_index(t, r->relabel, RELABEL_PRIVATE + 1);
}

void
policy_terms_lines(struct lines *t, struct policy *p)
{
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
