/* See attribute.h. */
#include "attribute.h"

#include <stdlib.h>
#include <string.h>

#include "../base/cleanup.h"
#include "../policy/instancevarstext.h"
#include "../policy/policydecide.h"

static bool
copy_text(const char *text, char **out)
{
	return text == NULL || (*out = strdup(text)) != NULL;
}

static bool
show_vars(const struct instance_vars *v, struct attribution *out)
{
	autobuf struct buf text = { 0 };

	if (v == NULL)
		return true;
	out->vars_left_out = (uint32_t)instance_vars_show(v, &text);
	return (out->vars = buf_take(&text)) != NULL;
}

bool
attribute(const struct principal *k, struct attribution *out)
{
	const struct identity *id = &k->id;

	*out = (struct attribution){ .kind = id->kind, .identity = identity_pack(id) };
	if (out->identity != NULL && strlen(out->identity) > PACKED_IDENTITY_MAX) {
		free(out->identity);
		out->identity = NULL;
	}
	if (k->issuer != NULL) {
		out->exp = k->claims.exp;
		memcpy(out->once, k->claims.once, sizeof(out->once));
	}
	return copy_text(id->team, &out->team) && copy_text(id->pipeline, &out->pipeline) && copy_text(id->job, &out->job) &&
	    copy_text(id->issuer, &out->issuer) && show_vars(id->instance_vars, out);
}

static bool
same_text(const char *a, const char *b)
{
	return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static bool
same(const struct attribution *a, const struct attribution *b)
{
	return a->kind == b->kind && same_text(a->team, b->team) && same_text(a->pipeline, b->pipeline) &&
	    same_text(a->job, b->job) && same_text(a->issuer, b->issuer) && same_text(a->vars, b->vars) &&
	    a->vars_left_out == b->vars_left_out;
}

bool
principal_of_lease(const char *packed, struct principal *out)
{
	autoattribution struct attribution lease = { .exp = 0 }, told = { .exp = 0 };

	*out = (struct principal){ .issuer = NULL };
	if (!attribution_unpack(packed, &lease) || !identity_unpack(lease.identity, out))
		return false;
	if (attribute(out, &told) && same(&lease, &told))
		return true;
	principal_free(out);
	return false;
}
