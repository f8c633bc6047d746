/* See grantquery.h. */
#include "grantquery.h"

#include "../gpu/inventorylines.h"
#include "../gpu/inventorynames.h"
#include "attribution.h"
#include "parsed.h"
#include "parsedpolicy.h"

/* A text that is borrowed when written, and owned when read. */
static void
field_if_there(struct lines *t, const char **text)
{
	field_copy_or_none(t, (char **)(uintptr_t)text);
}

static void
query_fields(struct lines *t, struct grant_query *a)
{
	lines_begin(t, "asks");
	field_if_there(t, &a->gpus);
	field_if_there(t, &a->folders);
	field_if_there(t, &a->cuda_visible);
	field_if_there(t, &a->rocr_visible);
	field_bool(t, &a->privileged);
}

static void
settings_fields(struct lines *t, struct settings *s)
{
	lines_begin(t, "settings");
	field_bool(t, &s->allow_integrated);
	field_bool(t, &s->unenforced);
	field_bool(t, &s->several_issuers);
	field_u32(t, &s->max_wait);
}

static void
host_lines(struct lines *t, struct grant_query *a)
{
	size_t i;

	lines_begin(t, "host");
	why_fields(t, &a->gpus_unknown);
	if (t->failed || a->gpus_unknown.code != WHY_NONE)
		return;
	inventory_lines(t, &a->inventory);
	inventory_names_lines(t, &a->inventory);
	lines_begin(t, "ranks");
	for (i = 0; i < a->inventory.gpus && !t->failed; i++)
		field_u32(t, &a->inventory.gpu[i].rank);
}

void
grant_query_lines(struct lines *t, struct grant_query *a)
{
	client_lines(t, &a->who);
	principal_lines(t, &a->principal);
	query_fields(t, a);
	settings_fields(t, &a->settings);
	lines_begin(t, "files");
	field_u32(t, &a->files);
	policy_set_lines(t, &a->policies);
	host_lines(t, a);
}
