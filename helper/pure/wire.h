/*
 * The frame between wrapper and helper: 4 bytes "GPUH", 4 bytes version, 4
 * bytes length (both big-endian), then that many bytes: of a request as request.c has
 * them, of a reply JSON.  One request, one reply; after a grant the wrapper sends one byte once it has written the
 * changes down, and the helper sends it back; or takes the grant back where that
 * byte never comes.
 */
#ifndef GPUHELPER_PURE_WIRE_H
#define GPUHELPER_PURE_WIRE_H

#include <stdint.h>

#include "why.h"

#define WIRE_VERSION 3
#define WIRE_HEADER 12
#define WIRE_REQUEST_MAX (272 * 1024)	/* with each part as long as it may be */
#define WIRE_REPLY_MAX (1024 * 1024)
#define WIRE_DONE 'W'		/* the byte that makes a grant final */

void wire_header(unsigned char out[WIRE_HEADER], uint32_t len);
/* The length that a header announces; -1 for what is no header, another version, or more than max. */
int wire_length(const unsigned char in[WIRE_HEADER], uint32_t max, uint32_t *len, struct why *why);

#endif
