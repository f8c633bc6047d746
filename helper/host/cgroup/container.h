/* The processes of a container, as root sees them. */
#ifndef GPUHELPER_HOST_CGROUP_CONTAINER_H
#define GPUHELPER_HOST_CGROUP_CONTAINER_H

#include "../../lease/leasefile.h"

/*
 * Finds the first process of a container that a runtime has just created. «parent» started that runtime, and is a
 * subreaper (prctl(2)), so the container's process becomes its child when the runtime ends. «besides» is another child
 * of «parent», the helper, and does not count. The container's process is the child that is process 1 of a
 * PID namespace of its own (*own_pids is then true), or else the only child. False if no child or several can be it.
 */
bool container_find_init(pid_t parent, pid_t besides, struct process_id *out, bool *own_pids);

/*
 * True if the device rules of the cgroup «devcgroup» keep its members from GPUs that the rules do not name. False
 * for rules that allow all devices: v1 then does not show which ones they deny. True as well if the rules
 * can't be seen (cgroup v2).
 */
bool container_is_restricted(const char *devcgroup, const struct devmajors *majors);

/*
 * True if the device rules deny the container each promised node (leasetasks.h), or if they can't be seen (cgroup v2).
 */
bool container_is_denied(const struct lease *l);
/* The same for a container that holds GPUs: the nodes that its lease allows don't count. */
bool container_has_no_more(const struct lease *l);

#endif
