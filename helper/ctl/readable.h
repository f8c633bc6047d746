/* May another user read a file? */
#ifndef GPUHELPER_CTL_READABLE_H
#define GPUHELPER_CTL_READABLE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * True if the user, with the groups that he gets when he logs in, may open the
 * directory of the file and read the file, by modes and ACLs; or where that can't be
 * seen.  What is not there is no hindrance.  «name» may be NULL; «path» is absolute.
 */
bool readable_by(uint32_t uid, const char *name, const char *path);

#endif
