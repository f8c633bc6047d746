/* Frames of helper/pure/wire.h over a stream socket, each within a time. */
#ifndef GPUHELPER_HOST_FRAME_H
#define GPUHELPER_HOST_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../pure/why.h"

/* True for a connected stream socket of this host: what frames go over. */
bool frame_is_stream(int fd);
/* Reads one frame's body of at most max bytes within ms milliseconds.  The caller frees; NULL with *why. */
char *frame_read(int fd, uint32_t max, int ms, size_t *len, struct why *why);
/* Writes one frame of at most max bytes within ms milliseconds.  No SIGPIPE: who left is an error like any other. */
int frame_write(int fd, const char *text, size_t len, uint32_t max, int ms, struct why *why);
/* Waits for one byte; its value, or -1 if none came in time. */
int frame_wait_byte(int fd, int ms);
int frame_send_byte(int fd, char c);

#endif
