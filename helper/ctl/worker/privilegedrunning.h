/* The privileged containers that run on this host. */
#ifndef GPUHELPER_CTL_WORKER_PRIVILEGEDRUNNING_H
#define GPUHELPER_CTL_WORKER_PRIVILEGEDRUNNING_H

#include "../../base/text.h"

/*
 * Lists them as «NAME (PID N, CAP_SYS_ADMIN)»: each container whose first process has a strong capability in this
 * process' user namespace.  The name is the last part of its cgroup.  Does not see containers that share the host's
 * PIDs, and what makes a container privileged besides capabilities.  False if /proc can't be read or memory is short.
 */
bool privileged_running(struct strlist *out);

/* Writes the list, at most three of it, for a person. */
void privileged_running_text(const struct strlist *l, char *text, size_t size);

#endif
