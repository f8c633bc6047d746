/* base64url as RFC 7515 wants it: its alphabet only, no padding, one spelling for each value. */
#ifndef GPUHELPER_JUDGE_BASE64URL_H
#define GPUHELPER_JUDGE_BASE64URL_H

#include <stddef.h>
#include <stdint.h>

#include "../pure/why.h"

/*
 * Decodes the len bytes at s.  Returns memory that the caller frees (never NULL
 * on success, not even for no bytes; a NUL that *outlen does not count follows
 * the bytes), or NULL with why: WHY_DATA for anything that encoding the result
 * would not give back byte for byte, WHY_BUG for want of memory.
 */
uint8_t *base64url_decode(const char *s, size_t len, size_t *outlen, struct why *why);

#endif
