/*
 * See base64url.h. Takes any bytes. nettle's decoder is too lenient: it skips white space and accepts
 * padding, which would give one token many spellings. So the decoded bytes are encoded again, and must give
 * back the input.
 */
#include "base64url.h"

#include <stdlib.h>
#include <string.h>

#include <nettle/base64.h>

#include "../base/cleanup.h"

/*
 * 1 if the n bytes encode, without padding, to exactly the «len» bytes at s; 0 if not; -1 if memory is short.
 */
static int
encodes_to(const uint8_t *bytes, size_t n, const char *s, size_t len)
{
	struct base64_encode_ctx ctx;
	autofree char *again = NULL;
	size_t m;

	if ((again = malloc(BASE64_ENCODE_LENGTH(n) + BASE64_ENCODE_FINAL_LENGTH)) == NULL)
		return -1;
	base64url_encode_init(&ctx);
	m = base64_encode_update(&ctx, again, n, bytes);
	m += base64_encode_final(&ctx, again + m);
	while (m > 0 && again[m - 1] == '=')
		m--;
	return m == len && memcmp(again, s, len) == 0;
}

uint8_t *
base64url_decode(const char *s, size_t len, size_t *outlen, struct why *why)
{
	struct base64_decode_ctx ctx;
	uint8_t *bytes;
	size_t n = 0;
	int same = 0;

	if (len > SIZE_MAX / 16) {
		refuse(why, WHY_DATA, "too long");
		return NULL;
	}
	if ((bytes = malloc(BASE64_DECODE_LENGTH(len) + 1)) == NULL) {
		refuse_nomem(why);
		return NULL;
	}
	base64url_decode_init(&ctx);
	if (base64_decode_update(&ctx, &n, bytes, len, s))
		same = encodes_to(bytes, n, s, len);
	if (same <= 0) {
		free(bytes);
		if (same < 0)
			refuse_nomem(why);
		else
			refuse(why, WHY_DATA, "not base64url without padding (RFC 7515)");
		return NULL;
	}
	bytes[n] = '\0';
	*outlen = n;
	return bytes;
}
