/* See hash.h. */
#include "hash.h"

#include <nettle/sha2.h>
#include <stdio.h>
#include <string.h>

void
hash_pieces(const char *const *pieces, char out[65])
{
	uint8_t digest[SHA256_DIGEST_SIZE];
	struct sha256_ctx ctx;
	size_t i;

	sha256_init(&ctx);
	for (i = 0; pieces[i] != NULL; i++)
		sha256_update(&ctx, strlen(pieces[i]) + (pieces[i + 1] != NULL), (const uint8_t *)pieces[i]);
	sha256_digest(&ctx, sizeof(digest), digest);
	for (i = 0; i < sizeof(digest); i++)
		snprintf(out + 2 * i, 3, "%02x", digest[i]);
}
