/* See identity.h: what a container claims. The helper does not link this file. */
#include "../policy/policydecide.h"
#include "identity.h"

int
identity_of_claims(const struct untrusted *w, vars_parser *parse, struct principal *out, struct why *why)
{
	*out = (struct principal){ .id = { .kind = IDENTITY_CALLER } };
	if (w->team == NULL || w->pipeline == NULL)
		return 0;
	out->id = (struct identity){ .kind = IDENTITY_CLAIM, .team = w->team, .pipeline = w->pipeline,
		.job = w->job };
	if (w->instance_vars != NULL && parse(w->instance_vars, &out->vars, why) == -1)
		return -1;
	out->id.instance_vars = out->vars.there ? &out->vars : NULL;
	return 0;
}
