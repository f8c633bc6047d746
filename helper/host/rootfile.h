/*
 * Files of a host whose root is a directory: "/" of the running host, or the root of a host that is mounted
 * somewhere.
 */
#ifndef GPUHELPER_HOST_ROOTFILE_H
#define GPUHELPER_HOST_ROOTFILE_H

#include "../base/text.h"
#include "../base/why.h"

/*
 * Opens «path» as a process with root directory «root» would: follows symbolic links, which stay beneath root
 * (openat2(2), RESOLVE_IN_ROOT). *real, unless real is NULL, gets the path beneath root without links; the
 * caller frees it. Adds O_CLOEXEC, and unless O_PATH is given, O_NOCTTY and O_NONBLOCK. Returns a descriptor,
 * or -1 with errno.
 */
int rootfile_open(int root, const char *path, int flags, char **real);

/* Gets the names in a directory, sorted; none if it does not exist. 0, or -1 with *why. */
int rootfile_list(int root, const char *path, struct strlist *out, struct why *why);

#endif
