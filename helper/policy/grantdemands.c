/* See policygrant.h. */
#include <stdio.h>
#include <stdlib.h>

#include "policygrant.h"

int
grant_demands(const struct decision *d, struct gpu_demand **out, size_t *demands, struct why *why)
{
	const struct grant *g = &d->grant;
	struct gpu_demand *w = calloc(g->gpus + 1, sizeof(*w));
	const struct gpu_grant *from;
	struct leased_gpu *h;
	size_t i, k;

	if ((*out = w) == NULL)
		return refuse_nomem(why);
	for (i = 0; i < g->gpus; i++) {
		from = &g->gpu[i];
		w[i] = (struct gpu_demand){ .candidates = from->n, .count = from->count };
		++*demands;
		if ((w[i].candidate = calloc(from->n + 1, sizeof(*h))) == NULL)
			return refuse_nomem(why);
		for (k = 0; k < from->n; k++) {
			h = &w[i].candidate[k];
			*h = (struct leased_gpu){ .vendor = from->candidate[k]->vendor,
				.exclusive = from->rule->sharing == SHARING_EXCLUSIVE, .limit = from->rule->share_limit };
			snprintf(h->pci, sizeof(h->pci), "%s", from->candidate[k]->pci);
			/* from the inventory, because the candidates may be only some of a GPU's partitions */
			gpu_part(&d->inventory, from->candidate[k], h->part);
		}
	}
	return 0;
}
