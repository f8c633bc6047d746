/* Whether SELinux is on, and the labels of files. Reads only files of the kernel, and must never write. */
#ifndef GPUHELPER_HOST_SELINUX_H
#define GPUHELPER_HOST_SELINUX_H

#include <stdbool.h>

#include "../base/why.h"
#include "../kernel/secontext.h"

enum selinux_state {
	SELINUX_ABSENT,		/* not in this kernel, not switched on, or without a policy */
	SELINUX_PERMISSIVE,
	SELINUX_ENFORCING,
};

/* Gets the state of SELinux. 0, or -1 with *why if it can't be read: nothing may be granted then. */
int selinux_state(enum selinux_state *out, struct why *why);

/* Gets the label of the descriptor's file (O_PATH is enough). False with errno; ENODATA if it has none. */
bool selinux_label_of(int fd, char out[SECONTEXT_MAX]);

#endif
