/* The cgroups of a container that is still to be made, where no process may be yet. */
#ifndef GPUHELPER_HOST_CGROUP_VACANT_H
#define GPUHELPER_HOST_CGROUP_VACANT_H

#include "candidates.h"

/*
 * As cgroup_candidates(), which adds to *out. -1 with *why, too, if a process is in one of the directories or beneath
 * it, or if one can't be looked at.
 */
int cgroup_vacant_candidates(int pid, const char *cgroups_path, const char *id, struct strlist *out, struct why *why);

#endif
