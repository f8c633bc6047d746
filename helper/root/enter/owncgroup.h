/* Moves the helper out of the cgroup that its caller may own, into one that is root's. */
#ifndef GPUHELPER_ROOT_ENTER_OWNCGROUP_H
#define GPUHELPER_ROOT_ENTER_OWNCGROUP_H

#include <stdbool.h>
#include <sys/types.h>

#include "../../base/why.h"

/*
 * Makes that cgroup if it is missing, unless root started the helper. To be called before enter() sheds
 * CAP_DAC_OVERRIDE, because the kernel gives the top of a hierarchy mode 0555. leave_cgroup() reports what went wrong.
 */
void make_own_cgroup(uid_t starter);

/*
 * To be called before a lock is taken. The owner of a cgroup (systemd gives each user one) can freeze all processes in
 * it, even root's, or have the kernel starve them of memory; and a helper that is stopped while it holds a lock stops
 * everyone. Not to be called before the request is read: until then the caller's cgroup limits the number of helpers.
 *
 * 0: the process is in «gpuhelper» at the top of v2 and of each v1 hierarchy that matters (owncgroup.c). If that is not
 * possible, it is in a cgroup that is root's alone, like all above it. The memory that it uses by now is locked.
 * -1 with *why: such a caller is refused.
 */
int leave_cgroup(uid_t starter, struct why *why);
/* True once leave_cgroup() has succeeded. To call it again does nothing. */
bool has_left_cgroup(void);

#endif
