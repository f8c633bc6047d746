/* Ends processes of a container that a lease of root's names. */
#ifndef GPUHELPER_USER_ENDING_H
#define GPUHELPER_USER_ENDING_H

#include "../pure/processid.h"
#include "../pure/text.h"
#include "../pure/why.h"

/*
 * Kills all processes in the container's cgroups (relative to /sys/fs/cgroup) but its first one, and waits until they
 * are gone, or that one is.  «id» is the container's name in messages.  -1 with *why: they can't be seen, or some are
 * left after two seconds (WHY_AGAIN).
 */
int end_others(const char *id, const struct strlist *cgroups, struct process_id first, struct why *why);

/* Kills its first process; 0 too where that is gone.  -1 with *why. */
int end_first(const char *id, struct process_id first, struct why *why);

#endif
