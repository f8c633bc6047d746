/* SHA-256 of several pieces with a NUL after each but the last, in hex. */
#ifndef GPUHELPER_BASE_HASH_H
#define GPUHELPER_BASE_HASH_H

#define HASH_SIZE 65	/* with its NUL */

/* «pieces» ends with NULL. */
void hash_pieces(const char *const *pieces, char out[HASH_SIZE]);

#endif
