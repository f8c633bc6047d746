/* See parsed.h: gpuhelper.conf. */
#include "parsed.h"

void
issuer_lines(struct lines *t, struct issuer_setting *i)
{
	struct issuer_claims *c = &i->claims;

	field_u32(t, &i->line);
	field_copy(t, &i->url);
	field_copy(t, &i->audience);
	field_copy(t, &i->keys);
	field_u32(t, &i->max_age);
	field_u32(t, &i->keys_max_age);
	field_bool(t, &i->token_reuse);
	field_copy_if_any(t, &i->variable);
	field_copy_if_any(t, &c->team);
	field_copy_if_any(t, &c->pipeline);
	field_copy_if_any(t, &c->job);
	field_copy_if_any(t, &c->reuse_by);
	field_u32(t, &c->bytes);
	claim_set_lines(t, "require", &c->require);
	lines_begin(t, "wanted");
	fields_list(t, &c->wanted);
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
	field_copy_if_any(t, &s->runtime);
	lines_begin(t, "volumes");
	fields_list(t, &s->volumes);
	lines_begin(t, "placeholders");
	fields_list(t, &s->placeholder_init);
	lines_begin(t, "tasks");
	fields_list(t, &s->task_execs);
	lines_begin(t, "shares");
	fields_list(t, &s->team_shares);
	lines_begin(t, "choices");
	s->privileged = (enum privileged)field_index(t, s->privileged, PRIVILEGED_ALLOW + 1);
	s->driver_files = (enum driver_files)field_index(t, s->driver_files, DRIVER_FILES_VENDOR_RUNTIME + 1);
	s->door = (enum door_setting)field_index(t, s->door, DOOR_BY_SETUID + 1);
	s->idle = (enum idle_setting)field_index(t, s->idle, IDLE_KEEP + 1);
	lines_begin(t, "switches");
	field_bool(t, &s->cdi_hooks);
	field_bool(t, &s->respect_allocation);
	field_bool(t, &s->grant_unasked);
	field_bool(t, &s->allow_integrated);
	field_bool(t, &s->unenforced);
	field_bool(t, &s->audit_plain);
	field_bool(t, &s->plain_container);
	lines_begin(t, "seconds");
	field_u32(t, &s->max_wait);
	field_u32(t, &s->left_behind);
	lines_members(t, "issuer", (void **)&s->issuer, &s->issuers, ISSUERS_MAX, sizeof(*s->issuer), issuer_member);
	s->several_issuers = s->issuers > 1;
}
