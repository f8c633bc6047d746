/* Whether a cgroup lies within that of another container. */
#ifndef GPUHELPER_USER_CGROUP_CGROUPABOVE_H
#define GPUHELPER_USER_CGROUP_CGROUPABOVE_H

#include <stdbool.h>

#include "../../base/text.h"

/*
 * True if a directory above one of these (paths relative to /sys/fs/cgroup) has a process of its own in
 * another PID namespace than ours, so that it is another container's. The cgroup of this process and the top
 * of a hierarchy do not count. True as well if memory is short or our own namespace can't be seen.
 */
bool cgroup_is_in_others(const struct strlist *dirs);

#endif
