/* See claims.h: the hash of a token. */
#include "claims.h"

void
token_hash(const char *token, char hex[HASH_SIZE])
{
	const char *const pieces[] = { token, NULL };

	hash_pieces(pieces, hex);
}
