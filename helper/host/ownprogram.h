/* One of our other programs, which lies beside the helper and is root's alone. */
#ifndef GPUHELPER_HOST_OWNPROGRAM_H
#define GPUHELPER_HOST_OWNPROGRAM_H

#include "../pure/why.h"

/*
 * The program of this name, as a descriptor of the caller's to close: good for executing it, and for nothing else.  -1
 * with *why: it is missing, or others could have put it there.
 */
int own_program_find(const char *name, int *fd, struct why *why);

#endif
