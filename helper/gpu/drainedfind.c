/* See drained.h. */
#include "drained.h"

const struct drained_gpu *
drained_find(const struct drained *d, const struct leased_gpu *g)
{
	size_t i;

	for (i = 0; i < d->n; i++)
		if (leased_gpus_overlap(&d->v[i].gpu, g))
			return &d->v[i];
	return NULL;
}
