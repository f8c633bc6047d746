/* SELinux on this host: is it on; which label has something?  Asks the kernel's files alone, and changes nothing. */
#ifndef GPUHELPER_HOST_SELINUX_H
#define GPUHELPER_HOST_SELINUX_H

#include <stdbool.h>

#include "../pure/secontext.h"
#include "../pure/why.h"

enum selinux_state {
	SELINUX_ABSENT,		/* not in this kernel, not switched on, or without a policy */
	SELINUX_PERMISSIVE,
	SELINUX_ENFORCING,
};

/* -1 with *why where it can't be known: then it is no time to give anything out. */
int selinux_state(enum selinux_state *out, struct why *why);

/* The label of what a descriptor (O_PATH, too) stands for; false with errno, ENODATA where it has none. */
bool selinux_label_of(int fd, char out[SECONTEXT_MAX]);

#endif
