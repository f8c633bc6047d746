/* Whether another user may read a file. */
#ifndef GPUHELPER_CTL_WORKER_READABLE_H
#define GPUHELPER_CTL_WORKER_READABLE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * True if modes and ACLs let the user, with the groups of a login, open the file's directory and read the file.  True
 * also if this process can't tell, or the path does not exist.  «name» may be NULL; «path» is absolute.
 */
bool readable_by(uint32_t uid, const char *name, const char *path);

#endif
