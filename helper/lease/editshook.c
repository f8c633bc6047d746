/* See edits.h: hooks. The helper does not link this file. */
#include <stdlib.h>

#include "edits.h"

struct edit_hook *
edits_add_hook(struct edits *e)
{
	struct edit_hook *v = reallocarray(e->hook, e->hooks + 1, sizeof(*v));

	if (v == NULL)
		return NULL;
	e->hook = v;
	v[e->hooks] = (struct edit_hook){ 0 };
	return &v[e->hooks++];
}
