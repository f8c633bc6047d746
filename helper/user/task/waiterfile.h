/* gpuhelper-wait in a memory file, so that no process of a container can change the host's copy (CVE-2019-5736). */
#ifndef GPUHELPER_USER_TASK_WAITERFILE_H
#define GPUHELPER_USER_TASK_WAITERFILE_H

#include <stdbool.h>

#include "../../base/why.h"

#define WAITER_PROGRAM GPUHELPER_LIBEXEC "/gpuhelper-wait"

/* True if this host has the waiter, and lets memory files be executed (vm.memfd_noexec). */
bool waiter_is_usable(void);

/*
 * Makes a sealed memory file of the waiter, which a process with this SELinux label may execute (NULL: no label is
 * known). Returns its descriptor, which is closed on exec, or -1 with *why.
 */
int waiter_file(const char *label, struct why *why);

#endif
