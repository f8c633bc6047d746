/*
 * Has a container a directory that another one passed to it?  A descriptor of a
 * directory, sent through a socket, keeps what its sender could do there: it is of
 * the sender's mount, which may be writable and have been gone for long.
 */
#ifndef GPUHELPER_HOST_PASSED_H
#define GPUHELPER_HOST_PASSED_H

#include <stdbool.h>
#include <stddef.h>

#include "../pure/way.h"
#include "opennode.h"

/*
 * True if a process of a container (home.h) has a directory open, or is in one, that is
 * on a mount which its own mount namespace does not have, in the file system of a
 * writable folder of «way» (in any without a device number of its own, where that one
 * has none: btrfs has several).  True as well where that can't be seen, or not with
 * *looks.  A descriptor on its way through a socket is not seen.
 */
bool directory_was_passed(const struct way *way, size_t ways, struct looks *looks);

#endif
