/*
 * SHA-256 (FIPS 180-4), in our own code because the setuid helper has no library: nettle's would add 46 KB of
 * other ciphers, and probes the processor at each start. tests/unit/t_sha256.c compares it with nettle's.
 */
#ifndef GPUHELPER_BASE_SHA256_H
#define GPUHELPER_BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

#define SHA256_BYTES 32
#define SHA256_BLOCK 64

struct sha256 {
	uint32_t h[8];
	uint64_t len;			/* bytes so far */
	uint8_t block[SHA256_BLOCK];	/* the last bytes, not a whole block yet */
};

void sha256_begin(struct sha256 *s);
void sha256_add(struct sha256 *s, const void *bytes, size_t n);
void sha256_end(struct sha256 *s, uint8_t out[SHA256_BYTES]);

#endif
