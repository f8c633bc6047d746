/*
 * Files that only root can have changed: every directory from "/" down and the
 * file itself belong to root and are writable by no one else, and no symbolic
 * link is on the way.
 */
#ifndef GPUHELPER_HOST_TRUST_H
#define GPUHELPER_HOST_TRUST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../pure/why.h"

/*
 * Opens a directory by absolute path, component by component.  With «strict»
 * each one has to be root's (see above); without it, only the links are
 * refused.  Returns a descriptor good for reading the directory, or -1 (errno is
 * ENOENT where there is none).
 */
int trust_open_dir(const char *path, bool strict, struct why *why);

/*
 * Reads a regular file in such a directory: one link, root's (where strict), at
 * most max bytes, unchanged while it was read.  «shown» is its name in
 * messages.  NULL with *why; errno is ENOENT where it is simply not there, and
 * ESTALE where it was removed or replaced meanwhile.
 */
char *trust_read(int dirfd, const char *name, const char *shown, size_t max, bool strict, size_t *len, struct why *why);

/*
 * For programs that run in a user namespace in which root shows as «shown», and
 * have no more rights than «self» there: what is either's is then taken for
 * root's.  Never for the helper: what it takes for root's is uid 0's.
 */
void trust_in_namespace(uint32_t shown, uint32_t self);
bool trust_is_root(uint32_t uid);

/* 0 if what «fd» is open on is root's and writable by no one else. */
int trust_check(int fd, const char *shown, struct why *why);

#endif
