/* See attribution.h. */
#include "attribution.h"

#include <stdlib.h>
#include <string.h>

#include "../base/cleanup.h"

void
client_lines(struct lines *t, struct client *who)
{
	lines_begin(t, "asker");
	field_u32(t, &who->uid);
	field_bool(t, &who->member);
	field_bool(t, &who->rootful);
	field_copy_or_none(t, (char **)(uintptr_t)&who->user);
}

void
attribution_lines(struct lines *t, struct attribution *a)
{
	char **const text[] = { &a->team, &a->pipeline, &a->job, &a->issuer, &a->vars, &a->identity };
	const char *names[IDENTITY_KINDS];
	size_t i;

	for (i = 0; i < IDENTITY_KINDS; i++)
		names[i] = identity_name((enum identity_kind)i);
	lines_begin(t, "identity");
	a->kind = (enum identity_kind)field_name(t, names, IDENTITY_KINDS, (unsigned)a->kind);
	for (i = 0; i < sizeof(text) / sizeof(text[0]); i++)
		field_copy_or_none(t, text[i]);
	field_u32(t, &a->vars_left_out);
	field_i64(t, &a->exp);
	field_text(t, a->once, sizeof(a->once));
	t->failed = t->failed || (a->vars != NULL && strlen(a->vars) > VARS_SHOWN_MAX) ||
	    (a->identity != NULL && strlen(a->identity) > PACKED_IDENTITY_MAX);
}

char *
attribution_pack(const struct attribution *a)
{
	struct attribution kept = *a;
	autobuf struct buf b = { 0 };
	struct lines t = { .out = &b };

	kept.exp = 0;
	kept.once[0] = '\0';
	attribution_lines(&t, &kept);
	return kept.identity != NULL && lines_finish(&t) ? buf_take(&b) : NULL;
}

bool
attribution_unpack(const char *text, struct attribution *out)
{
	struct lines t = { .at = text, .end = text + strlen(text) };

	*out = (struct attribution){ .exp = 0 };
	attribution_lines(&t, out);
	if (lines_finish(&t) && out->identity != NULL)
		return true;
	attribution_free(out);
	return false;
}

static bool
copy_text(const char *text, char **out)
{
	return text == NULL || (*out = strdup(text)) != NULL;
}

bool
attribution_claimed(const struct untrusted *w, struct attribution *out)
{
	out->kind = IDENTITY_CLAIM;
	return copy_text(w->team, &out->team) && copy_text(w->pipeline, &out->pipeline) && copy_text(w->job, &out->job);
}

void
attribution_free(struct attribution *a)
{
	char *const text[] = { a->team, a->pipeline, a->job, a->issuer, a->vars, a->identity };
	size_t i;

	for (i = 0; i < sizeof(text) / sizeof(text[0]); i++)
		free(text[i]);
	*a = (struct attribution){ .exp = 0 };
}
