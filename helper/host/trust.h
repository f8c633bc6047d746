/*
 * Files that only root can have changed: the file and every directory on its path, from "/" down, belong to
 * root and are writable by nobody else, and no component is a symbolic link.
 */
#ifndef GPUHELPER_HOST_TRUST_H
#define GPUHELPER_HOST_TRUST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../base/why.h"

/*
 * The result. *why has a message for all but the first. Do not look at errno: many refusals come without a
 * failed call.
 */
enum trust_found {
	TRUST_FOUND,
	TRUST_ABSENT,		/* it does not exist */
	TRUST_REPLACED,		/* it was removed or replaced while it was read (WHY_AGAIN) */
	TRUST_NO_ACCESS,		/* this process may not look at it */
	TRUST_REFUSED,		/* others than root can change it, or it is of the wrong kind: for every caller */
	TRUST_FAILED,		/* it could not be looked at just now */
};

/*
 * Opens a directory by its absolute path, component by component. With «strict», each component must be
 * root's as above; without, only links are refused. *fd is open for reading; -1 on failure.
 */
enum trust_found trust_find_dir(const char *path, bool strict, int *fd, struct why *why);
/* The same for a directory that is not listed: *fd is for opening files in it by name (O_PATH). */
enum trust_found trust_pin_dir(const char *path, bool strict, int *fd, struct why *why);

/*
 * Reads a regular file of at most «max» bytes in such a directory, which does not change during the reading.
 * With «strict», it must have one link, be root's, and be executable for nobody. «shown» is its name in
 * messages. The caller frees *text; NULL on failure.
 */
enum trust_found trust_find_text(int dirfd, const char *name, const char *shown, size_t max, bool strict, char **text,
    size_t *len, struct why *why);

/* The same two for callers to whom a missing file is an error like any other. -1 or NULL, with *why. */
int trust_open_dir(const char *path, bool strict, struct why *why);
char *trust_read(int dirfd, const char *name, const char *shown, size_t max, bool strict, size_t *len, struct why *why);

/*
 * For programs in a user namespace that shows root as uid «shown», and that have only the rights of «self»
 * there: files of either are then taken for root's. Must never be used by the helper, to which only uid 0 is
 * root.
 */
void trust_in_namespace(uint32_t shown, uint32_t self);
bool trust_is_root(uint32_t uid);

/* Checks that the descriptor's file is root's and writable by nobody else. 0, or -1 with *why. */
int trust_check(int fd, const char *shown, struct why *why);

#endif
