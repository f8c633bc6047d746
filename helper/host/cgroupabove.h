/* Whether a cgroup lies within another container's. */
#ifndef GPUHELPER_HOST_CGROUPABOVE_H
#define GPUHELPER_HOST_CGROUPABOVE_H

#include <stdbool.h>

#include "../pure/text.h"

/*
 * True if a directory above one of these, which are relative to /sys/fs/cgroup, has in
 * itself a process of another PID namespace than ours: it is another container's.  The cgroup that this
 * process is in, and the top of a hierarchy, are nobody else's.  True too without memory, or
 * where our own namespace can't be seen.
 */
bool cgroup_is_in_others(const struct strlist *dirs);

#endif
