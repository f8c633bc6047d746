/* Files for the runtime that are changed on their way to it: read whole, and given on in our memory. */
#ifndef GPUHELPER_USER_MEMFILE_H
#define GPUHELPER_USER_MEMFILE_H

#include <stddef.h>

#include "../host/file.h"
#include "../pure/why.h"

/* All that is to be read, which the caller frees; NULL with errno, which is EFBIG for more than max bytes. */
char *memfile_read(int fd, size_t max, size_t *len);

/*
 * A file of our memory with this text, which the runtime finds by the path, since
 * it will be this process.  «name» is for messages.  -1 with *why.
 */
int memfile_make(const char *name, const char *text, size_t len, char path[FILE_LINK_MAX], struct why *why);

#endif
