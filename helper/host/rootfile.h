/* Files of a host whose root is a directory: the running host's "/", or one that is mounted somewhere. */
#ifndef GPUHELPER_HOST_ROOTFILE_H
#define GPUHELPER_HOST_ROOTFILE_H

#include "../pure/text.h"
#include "../pure/why.h"

/*
 * Opens «path» as a process would whose root «root» is: symbolic links are
 * followed, and stay beneath it (openat2(2), RESOLVE_IN_ROOT).  *real, which may
 * be NULL, gets its path in that root without links; the caller frees.  Returns a
 * descriptor (O_CLOEXEC, O_NOCTTY and O_NONBLOCK added), or -1 with errno.
 */
int rootfile_open(int root, const char *path, int flags, char **real);

/* The names in a directory, sorted; none where it is not there.  -1 with *why: it can't be read, or no memory. */
int rootfile_list(int root, const char *path, struct strlist *out, struct why *why);

#endif
