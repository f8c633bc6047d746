/* See table.h: gpuhelper.conf. */
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
