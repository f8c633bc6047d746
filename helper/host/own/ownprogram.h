/*
 * Finds gpuhelper's other programs and the users that they run as. The programs are in the helper's directory, and only
 * root can have written them.
 */
#ifndef GPUHELPER_HOST_OWN_OWNPROGRAM_H
#define GPUHELPER_HOST_OWN_OWNPROGRAM_H

#include <stdint.h>

#include "../../base/why.h"

/*
 * Finds the program of this name. *fd is good for execution only; the caller closes it. Returns 0, or -1 with
 * *why if it is missing, or others than root could have put it there.
 */
int own_program_find(const char *name, int *fd, struct why *why);
/*
 * The same in the directory of these programs, which the caller has opened. Returns 0, -1 with *why if it can't be
 * opened, or 1 with *why if it is no program that only root could have put there.
 */
int own_program_open(int dir, const char *name, int *fd, struct why *why);

/*
 * Gets the user that the program runs as, which has the program's name. Returns 0, or -1 with *why if
 * /etc/passwd has no such user, or gives it root's uid or group.
 */
int own_program_user(const char *name, uint32_t *uid, uint32_t *gid, struct why *why);

#endif
