/* Out of the cgroup that the caller may own, into one that is root's. */
#ifndef GPUHELPER_ROOT_OWNCGROUP_H
#define GPUHELPER_ROOT_OWNCGROUP_H

#include <stdbool.h>
#include <sys/types.h>

#include "../pure/why.h"

/*
 * Makes that cgroup where it is not there yet.  The kernel gives the top of a
 * hierarchy mode 0555: it takes CAP_DAC_OVERRIDE, which enter() sheds.  What goes
 * wrong shows in leave_cgroup().
 */
void make_own_cgroup(uid_t starter);

/*
 * To be called before a lock is taken.  Who owns a cgroup (a user's own systemd
 * is given one) can freeze all that is in it, be it root's, or have the kernel
 * starve it of memory, and a helper that is stopped while it holds a lock is
 * everyone's trouble.  Not before the request is there: until then the caller's
 * cgroup bounds how many of us there are.
 *
 * Afterwards the process is in «gpuhelper» at the top of v2 and of each of v1's
 * hierarchies that matter (owncgroup.c); or, where that can't be, in a cgroup
 * that is root's alone, like all above it.  Otherwise -1: such a caller is refused.
 * What it has in memory is then locked there.
 */
int leave_cgroup(uid_t starter, struct why *why);
/* It has been called, with success; again it does nothing. */
bool has_left_cgroup(void);

#endif
