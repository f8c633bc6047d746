/* Sends and receives frames (ask/wire.h) over a stream socket, each within a time limit. */
#ifndef GPUHELPER_HOST_OWN_FRAME_H
#define GPUHELPER_HOST_OWN_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../base/why.h"

/* True for a connected Unix stream socket, which the functions below need. */
bool frame_is_stream(int fd);
/*
 * Reads the body of one frame, at most «max» bytes, within «ms» milliseconds. The caller frees it. NULL with
 * *why.
 */
char *frame_read(int fd, uint32_t max, int ms, size_t *len, struct why *why);
/*
 * Writes one frame of at most «max» bytes within «ms» milliseconds. A peer that left is an error, not a
 * SIGPIPE. 0, or -1 with *why.
 */
int frame_write(int fd, const char *text, size_t len, uint32_t max, int ms, struct why *why);
/* Waits «ms» milliseconds for one byte. Returns its value, or -1 if none came. */
int frame_wait_byte(int fd, int ms);
/* Sends one byte within a second. Returns 0, or -1 with errno. */
int frame_send_byte(int fd, char c);

#endif
