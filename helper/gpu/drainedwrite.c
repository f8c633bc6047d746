/* See drained.h: gpuhelperctl writes the list, gpuhelper-engine only reads it. */
#include "drained.h"

char *
drained_encode(const struct drained *d)
{
	struct drained out = *d;
	struct buf b = { 0 };
	struct lines s = { .out = &b };

	if (drained_lines(&s, &out) && !b.failed)
		return b.p;
	buf_free(&b);
	return NULL;
}
