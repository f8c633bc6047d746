/* Ends processes of a container that a lease names. */
#ifndef GPUHELPER_USER_CGROUP_ENDPROCESSES_H
#define GPUHELPER_USER_CGROUP_ENDPROCESSES_H

#include "../../base/text.h"
#include "../../base/why.h"
#include "../../kernel/processid.h"

/*
 * Kills all processes in the container's cgroups (relative to /sys/fs/cgroup) except «first», and waits until
 * they are gone or «first» is. «id» names the container in messages. Returns 0, or -1 with *why: the
 * processes can't be seen, or some are left after two seconds (WHY_AGAIN).
 */
int end_others(const char *id, const struct strlist *cgroups, struct process_id first, struct why *why);

/* Kills one process of the container, if it is still in these cgroups. */
void end_one(const struct strlist *cgroups, pid_t pid);

/* Kills the container's first process. Returns 0, even if that process is gone, or -1 with *why. */
int end_first(const char *id, struct process_id first, struct why *why);

#endif
