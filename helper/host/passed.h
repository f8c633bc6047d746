/*
 * Has a process what a container that is gone passed to it?  A descriptor, sent
 * through a socket, keeps what its sender could do there: it is of the sender's
 * mount, which may be writable and have been gone for long.
 */
#ifndef GPUHELPER_HOST_PASSED_H
#define GPUHELPER_HOST_PASSED_H

#include <stdbool.h>
#include <stddef.h>

#include "../pure/way.h"
#include "opennode.h"

/*
 * True if a process of a container (home.h), or of the host but for root's, has
 * something open, or is in a directory, that is on a mount which its own mount
 * namespace does not have, in the file system of a writable folder of «way» (a directory
 * in any without a device number of its own, where that one has none: btrfs has several).
 * True as well where that can't be seen, or not with *looks.  What is on its way
 * through a socket, kept by io_uring(7), or reached by a mount that was made in a
 * user namespace of the sender's is not seen.
 */
bool mount_was_passed(const struct way *way, size_t ways, struct looks *looks);

#endif
