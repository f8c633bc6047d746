/*
 * Whether a process has a leaked mount: something that a container passed to it before that container ended. A
 * descriptor sent through a socket still gives access to its sender's mount. That mount may be writable, and may have
 * been detached long ago. The same is true of a mount that the sender made.
 */
#ifndef GPUHELPER_LOOK_LEAKEDMOUNTS_H
#define GPUHELPER_LOOK_LEAKEDMOUNTS_H

#include <stdbool.h>
#include <stddef.h>

#include "../host/process/scanbudget.h"
#include "../lease/lookup.h"

/*
 * True if a process of a container (hostprocess.h), or a host process that is not root's,
 * - has a file open on a mount that its own mount namespace lacks, where the file is on the file system of a
 * writable folder of «lookup» (btrfs has several device numbers: where the folder has none of its own, a
 * directory on any file system without one counts);
 * - has a directory open on such a mount, or has its working or root directory there, whatever the file
 * system: the folder may be mounted beneath;
 * - keeps open a mount namespace that is not ours; or
 * - has a socket with descriptors in flight, or an io_uring(7) that keeps some: the kernel does not say
 * which.
 * True as well if a process of a container has a mount of such a folder or of something in it; if all
 * processes of a mount namespace are chrooted; if any of this can't be seen; or if *budget does not suffice.
 * An overlay mount of such a folder goes unnoticed.
 */
bool mount_has_leaked(const struct lookup *lookup, size_t lookups, struct budget *budget);

#endif
