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
 * What came of it; *why says more of all but the first.  Never errno: much is
 * refused without a call that fails, and leaves there what another one said.
 */
enum trust_found {
	TRUST_FOUND,
	TRUST_ABSENT,		/* it is not there */
	TRUST_REPLACED,		/* it was there, and was removed or replaced while it was read (WHY_AGAIN) */
	TRUST_SHUT,		/* we may not look at it */
	TRUST_REFUSED,		/* it is not to be trusted, or not what it should be: to nobody, and at no time */
	TRUST_FAILED,		/* it could not be seen just now */
};

/*
 * Opens a directory by absolute path, component by component.  With «strict»
 * each one has to be root's (see above); without it, only the links are
 * refused.  *fd is good for reading the directory; -1 where none was found.
 */
enum trust_found trust_find_dir(const char *path, bool strict, int *fd, struct why *why);
/* Likewise, of a directory that need not be listed: what is in it can be opened by name (O_PATH). */
enum trust_found trust_find_place(const char *path, bool strict, int *fd, struct why *why);

/*
 * Reads a regular file in such a directory: at most max bytes, unchanged while it
 * was read; where strict, of one link, root's, and executable for no one.  «shown» is
 * its name in messages.  The caller frees *text, which is NULL where none was found.
 */
enum trust_found trust_find_text(int dirfd, const char *name, const char *shown, size_t max, bool strict, char **text,
    size_t *len, struct why *why);

/* The same two, for who takes what is not there for an error like any other: -1, or NULL, with *why. */
int trust_open_dir(const char *path, bool strict, struct why *why);
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
