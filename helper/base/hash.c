/* See hash.h. */
#include "hash.h"

#include <stdio.h>
#include <string.h>

#include "sha256.h"

void
hash_pieces(const char *const *pieces, char out[HASH_SIZE])
{
	uint8_t digest[SHA256_BYTES];
	struct sha256 s;
	size_t i;

	sha256_begin(&s);
	for (i = 0; pieces[i] != NULL; i++)
		sha256_add(&s, pieces[i], strlen(pieces[i]) + (pieces[i + 1] != NULL));
	sha256_end(&s, digest);
	for (i = 0; i < sizeof(digest); i++)
		snprintf(out + 2 * i, 3, "%02x", digest[i]);
}
