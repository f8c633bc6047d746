/*
 * Appends values to a message, and takes them from its front. Never believes a length in a message: takes
 * nothing beyond the message's end.
 */
#ifndef GPUHELPER_BASE_BYTES_H
#define GPUHELPER_BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "text.h"

/* Appends n bytes as they are in memory. If n is 0, «what» may be NULL. */
void bytes_put(struct buf *b, const void *what, size_t n);

/* The rest of a message, not taken yet. */
struct bytes {
	const char *p;
	size_t n;
};

/* Copies n bytes to out. False, with nothing taken, if fewer are left. */
bool bytes_take(struct bytes *b, void *out, size_t n);

#endif
