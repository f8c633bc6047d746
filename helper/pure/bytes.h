/*
 * Bytes of a message, put to its end and taken from its front.  No length in a message is believed: what goes beyond
 * the bytes that are there is not taken.
 */
#ifndef GPUHELPER_PURE_BYTES_H
#define GPUHELPER_PURE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "text.h"

/* Adds n bytes as they lie in memory; none, and «what» may be NULL, where n is 0. */
void bytes_put(struct buf *b, const void *what, size_t n);

/* The bytes that were not taken yet. */
struct bytes {
	const char *p;
	size_t n;
};

/* Copies n bytes to out; false, and nothing is taken, where fewer are left. */
bool bytes_take(struct bytes *b, void *out, size_t n);
/* A text up to and without its NUL, which the caller frees; NULL: there is none, or no memory. */
char *bytes_take_text(struct bytes *b);
/*
 * An array of n members as they lie in memory; the caller frees *out, also after false.  For no members *out and
 * *count are left alone.
 */
bool bytes_take_array(struct bytes *b, uint64_t n, size_t size, void **out, size_t *count);

#endif
