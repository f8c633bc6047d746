/* Whether a container has a directory, or one above it, mounted writable. */
#ifndef GPUHELPER_USER_MOUNT_WRITABLEMOUNTS_H
#define GPUHELPER_USER_MOUNT_WRITABLEMOUNTS_H

#include <stdbool.h>

/*
 * True if a process of a container (hostprocess.h) has the directory of the descriptor «fd», or one above it,
 * mounted writable, or if that can't be seen. «path» is the absolute path without links by which fd was
 * opened. Passes over processes that this process may not look at: for an unprivileged user, those of other
 * users.
 */
bool container_writes_in(int fd, const char *path);

#endif
