/* See grantask.h. */
#include "grantask.h"

#include "../gpu/inventorylines.h"
#include "table.h"

/* A text that is borrowed when written, and owned when read. */
static void
word_if_there(struct lines *t, const char **text)
{
	word_copy_or_none(t, (char **)(uintptr_t)text);
}

static void
ask_words(struct lines *t, struct grant_ask *a)
{
	lines_begin(t, "asks");
	word_if_there(t, &a->gpus);
	word_if_there(t, &a->folders);
	word_if_there(t, &a->cuda_visible);
	word_if_there(t, &a->rocr_visible);
	word_bool(t, &a->privileged);
}

static void
settings_words(struct lines *t, struct settings *s)
{
	lines_begin(t, "settings");
	word_bool(t, &s->allow_integrated);
	word_bool(t, &s->unenforced);
	word_bool(t, &s->several_issuers);
	word_u32(t, &s->max_wait);
}

static void
host_lines(struct lines *t, struct grant_ask *a)
{
	size_t i;

	lines_begin(t, "host");
	why_words(t, &a->blind);
	if (t->failed || a->blind.code != WHY_NONE)
		return;
	inventory_lines(t, &a->inventory);
	inventory_names_lines(t, &a->inventory);
	lines_begin(t, "ranks");
	for (i = 0; i < a->inventory.gpus && !t->failed; i++)
		word_u32(t, &a->inventory.gpu[i].rank);
}

void
grant_ask_lines(struct lines *t, struct grant_ask *a)
{
	client_lines(t, &a->who);
	origin_lines(t, &a->origin);
	ask_words(t, a);
	settings_words(t, &a->settings);
	lines_begin(t, "files");
	word_u32(t, &a->files);
	policy_set_lines(t, &a->policies);
	host_lines(t, a);
}
