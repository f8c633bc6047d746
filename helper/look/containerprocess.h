/* Which process of a container another process means, by a number of whatever PID namespace. */
#ifndef GPUHELPER_LOOK_CONTAINERPROCESS_H
#define GPUHELPER_LOOK_CONTAINERPROCESS_H

#include "../lease/leasefile.h"

/*
 * The process of the lease's container, other than its first one, that has this number, in any PID namespace, and this
 * start time. 0 if there is none, or several.
 */
pid_t container_find_process(const struct lease *l, struct process_id asked);

#endif
