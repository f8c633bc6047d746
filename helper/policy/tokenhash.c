/* See tokenhash.h: the hash of a token. */
#include "tokenhash.h"

#include <string.h>

void
token_hash(const char *token, char hex[HASH_SIZE])
{
	const char *const pieces[] = { token, NULL };

	hash_pieces(pieces, hex);
}
