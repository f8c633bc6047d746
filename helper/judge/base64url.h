/* Decodes base64url as RFC 7515 defines it: only its alphabet, no padding, one spelling for each value. */
#ifndef GPUHELPER_JUDGE_BASE64URL_H
#define GPUHELPER_JUDGE_BASE64URL_H

#include <stddef.h>
#include <stdint.h>

#include "../base/why.h"

/*
 * Decodes the «len» bytes at s. Returns memory that the caller frees; it is never NULL on success, not even
 * for 0 bytes, and a NUL that *outlen does not count follows the bytes. Returns NULL with *why: WHY_DATA if
 * encoding the result would not give back the same bytes, WHY_BUG if memory is short.
 */
uint8_t *base64url_decode(const char *s, size_t len, size_t *outlen, struct why *why);

#endif
