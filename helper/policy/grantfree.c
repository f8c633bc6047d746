/* See policygrant.h: what is left of a decision. */
#include <stdlib.h>

#include "policygrant.h"

void
grant_free(struct grant *g)
{
	size_t i;

	for (i = 0; i < g->folders; i++) {
		free(g->folder[i].path);
		free(g->folder[i].target);
		free(g->folder[i].base);
	}
	free(g->folder);
	free(g->gpu);
	*g = (struct grant){ 0 };
}
