/* Where a container's cgroups may be that is still to be made (host/cgroup/candidates.h). */
#ifndef GPUHELPER_LOOK_CGROUPS_H
#define GPUHELPER_LOOK_CGROUPS_H

#include "../ask/pathsquery.h"

/*
 * Adds them to the answer. None of them may have processes yet. 0, or -1 with out->why: they have, or what is granted
 * could not be followed there.
 */
int cgroups_find(const struct cgroups_query *asked, struct paths_answer *out);

#endif
