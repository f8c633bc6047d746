/*
 * Has a process what a container that is gone passed to it?  A descriptor, sent
 * through a socket, keeps what its sender could do there: it is of the sender's
 * mount, which may be writable and have been gone for long.  So does a mount that the
 * sender made of its own.
 */
#ifndef GPUHELPER_HOST_PASSED_H
#define GPUHELPER_HOST_PASSED_H

#include <stdbool.h>
#include <stddef.h>

#include "../pure/way.h"
#include "opennode.h"

/*
 * True if a process of a container (home.h), or of the host but for root's,
 * - has something open that is on a mount which its own mount namespace does not have, in the
 *   file system of a writable folder of «way» (a directory in any without a device
 *   number of its own, where that one has none: btrfs has several); or a directory on such a
 *   mount, whatever its file system, or is in one: the folder may be mounted beneath it;
 * - keeps a mount namespace that is not ours;
 * - has a socket to which descriptors are on their way, or an io_uring(7) that keeps some:
 *   which ones can't be seen;
 * or if a process of a container has a mount of such a folder, or of something in
 * it, or all of a mount namespace's are chrooted there.  True as well where that can't be
 * seen, or not with *looks.  An overlay of such a folder is not seen.
 */
bool mount_was_passed(const struct way *way, size_t ways, struct looks *looks);

#endif
