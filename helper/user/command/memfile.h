/* Files for the runtime that are changed on the way: read whole, and passed on in a memory file. */
#ifndef GPUHELPER_USER_COMMAND_MEMFILE_H
#define GPUHELPER_USER_COMMAND_MEMFILE_H

#include <stddef.h>

#include "../../base/why.h"
#include "../../host/file.h"

#define MEMFILE_ABOVE 100	/* the least number of such a file: fixed ones are below (waiter.h) */

/*
 * Reads a descriptor to its end, at most «max» bytes. The caller frees the text. NULL with errno; EFBIG if it
 * is longer.
 */
char *memfile_read(int fd, size_t max, size_t *len);

/*
 * Makes a memory file with this text. *path gets its path in /proc/self/fd, which is valid for the runtime,
 * too, because this process becomes the runtime. «name» is for messages. Returns 0, or -1 with *why.
 */
int memfile_make(const char *name, const char *text, size_t len, char path[FILE_LINK_MAX], struct why *why);

#endif
