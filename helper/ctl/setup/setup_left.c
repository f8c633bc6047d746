/* See setup.h: podman and docker share this.  Undo leaves the wrapper's name to containers that need it. */
#include "setup.h"

#include "../../base/quoted.h"

#define SHOWN 3

void
setup_left_names(struct buf *b, const struct strlist *l)
{
	size_t i;

	for (i = 0; i < l->n && i < SHOWN; i++)
		buf_printf(b, "%s%s", i > 0 ? ", " : "", quoted(l->v[i]));
	if (l->n > SHOWN)
		buf_printf(b, " and %zu more", l->n - SHOWN);
}
