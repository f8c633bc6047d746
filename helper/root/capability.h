/* Drops capabilities that a process does not need. */
#ifndef GPUHELPER_ROOT_CAPABILITY_H
#define GPUHELPER_ROOT_CAPABILITY_H

#include <linux/capability.h>
#include <stddef.h>

#include "../pure/why.h"

#ifndef CAP_CHECKPOINT_RESTORE
#define CAP_CHECKPOINT_RESTORE 40	/* capabilities(7); Linux 5.9 */
#endif

/*
 * Keeps, of the process's capabilities (capabilities(7)), only those in kept[n]. Empties the bounding set, and sets the
 * securebits so that neither uid 0 nor an exec regains any. -1 with *why.
 */
int capabilities_keep(const int *kept, size_t n, struct why *why);

#endif
