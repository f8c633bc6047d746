/* Where the cgroups of a container that is still to be made may be. */
#ifndef GPUHELPER_HOST_CGROUP_CANDIDATES_H
#define GPUHELPER_HOST_CGROUP_CANDIDATES_H

#include <stdbool.h>

#include "../../base/text.h"
#include "../../base/why.h"

/*
 * Adds to *out every directory, relative to /sys/fs/cgroup, in which a runtime that process «pid» started may
 * put this container. The runtime goes by linux.cgroupsPath, or by the container's id where that is empty.
 * runc and crun read the path as absolute, or relative to their own cgroup; cgroup v1, v2 and both together
 * are covered, with and without systemd. The caller chooses the path, so that it may point at anything: do no
 * more than look at these directories.
 * Returns 0, or -1 with *why for a path that a runtime may read differently from this function.
 */
int cgroup_candidates(int pid, const char *cgroups_path, const char *id, struct strlist *out, struct why *why);

/*
 * Checks that every runtime makes the same systemd scope of this path («system.slice:docker:ID»). Returns 0,
 * or -1 with *why.
 */
int cgroup_check_scope(const char *path, struct why *why);

/*
 * True if /sys/fs/cgroup shows process «pid» in the cgroup that its /proc/PID/cgroup names, in the hierarchy
 * that has the device rules. Then the paths of other processes are valid beneath /sys/fs/cgroup, too.
 */
bool cgroup_is_shown(int pid);

#endif
