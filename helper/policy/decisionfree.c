/* See policydecide.h. The helper does not link this file. */
#include "policydecide.h"

void
decision_free(struct decision *d)
{
	inventory_free(&d->inventory);
	grant_free(&d->grant);
}
