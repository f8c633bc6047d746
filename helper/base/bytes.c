/* See bytes.h. Assumes that the message may be hostile. */
#include "bytes.h"

#include <string.h>

void
bytes_put(struct buf *b, const void *what, size_t n)
{
	if (n > 0)
		buf_add(b, what, n);
}

bool
bytes_take(struct bytes *b, void *out, size_t n)
{
	if (n > b->n)
		return false;
	if (n > 0)
		memcpy(out, b->p, n);
	b->p += n;
	b->n -= n;
	return true;
}
