/* Do containers have a directory, or one above it, mounted to write in? */
#ifndef GPUHELPER_HOST_WRITERS_H
#define GPUHELPER_HOST_WRITERS_H

#include <stdbool.h>

/*
 * True if a process of a container (home.h) has the directory that is open as «fd» and
 * was opened by the path, an absolute one without links, or one above it, mounted to
 * write in; or where that can't be seen.  Processes that this one has no right to look
 * at are passed over: for a user, those of others.
 */
bool container_writes_in(int fd, const char *path);

#endif
