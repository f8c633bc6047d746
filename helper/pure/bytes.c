/* See bytes.h. Assumes that the message may be hostile. */
#include "bytes.h"

#include <stdlib.h>
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

char *
bytes_take_text(struct bytes *b)
{
	const char *end = b->n > 0 ? memchr(b->p, '\0', b->n) : NULL;
	char *s = end != NULL ? strdup(b->p) : NULL;

	if (s != NULL) {
		b->n -= (size_t)(end + 1 - b->p);
		b->p = end + 1;
	}
	return s;
}

bool
bytes_take_array(struct bytes *b, uint64_t n, size_t size, void **out, size_t *count)
{
	if (n == 0)
		return true;
	if (n > b->n / size || (*out = calloc((size_t)n, size)) == NULL)
		return false;
	*count = (size_t)n;
	return bytes_take(b, *out, (size_t)n * size);
}
