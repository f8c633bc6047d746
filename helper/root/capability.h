/* The capabilities that a process of ours goes on with. */
#ifndef GPUHELPER_ROOT_CAPABILITY_H
#define GPUHELPER_ROOT_CAPABILITY_H

#include <linux/capability.h>
#include <stddef.h>

#include "../pure/why.h"

#ifndef CAP_CHECKPOINT_RESTORE
#define CAP_CHECKPOINT_RESTORE 40	/* capabilities(7); Linux 5.9 */
#endif

/*
 * Drops all capabilities (capabilities(7)) but those of the list that the process has, from the bounding set too, and
 * shuts the ways by which root gets them back; who has none has nothing to shut. -1 with *why.
 */
int capabilities_keep(const int *kept, size_t n, struct why *why);

#endif
