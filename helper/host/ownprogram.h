/* One of our other programs, which lies beside the helper and is root's alone; and the user as which it runs. */
#ifndef GPUHELPER_HOST_OWNPROGRAM_H
#define GPUHELPER_HOST_OWNPROGRAM_H

#include <stdint.h>

#include "../pure/why.h"

/*
 * The program of this name, as a descriptor of the caller's to close: good for executing it, and for nothing else.  -1
 * with *why: it is missing, or others could have put it there.
 */
int own_program_find(const char *name, int *fd, struct why *why);

/*
 * The user as which such a program runs, who has its name and no right of root's: -1 with *why where /etc/passwd has no
 * such user, or root by that name.
 */
int own_program_user(const char *name, uint32_t *uid, uint32_t *gid, struct why *why);

#endif
