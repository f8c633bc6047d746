/* A container's processes, as the kernel shows them to root. */
#ifndef GPUHELPER_HOST_CONTAINER_H
#define GPUHELPER_HOST_CONTAINER_H

#include "../pure/leasefile.h"

/*
 * The first process of the container that a runtime, which «parent» had started,
 * has just made: what it left to its parent when it ended (a subreaper,
 * prctl(2)).  «Besides» is another child of the parent's: the process that asks
 * this.  Of several the one that is process 1 of a PID namespace of its own, which
 * *own_pids tells.  False where it can't be told.
 */
bool container_find_init(pid_t parent, pid_t besides, struct process_id *out, bool *own_pids);

/* What there is to be seen in the container of a lease with «pauses», but for what its first process has open. */
void container_see(const struct lease *l, struct sight *out);

/*
 * True where the device rules of a cgroup keep its members from GPUs that they do not
 * name: of one that allows all devices but some, v1 says only that it allows all.  True
 * as well where rules can't be seen from here (cgroup v2).
 */
bool container_is_ruled(const char *gate, const struct devmajors *majors);

/* True where the container may not open the lease's nodes, or that can't be seen from here (cgroup v2). */
bool container_is_shut(const struct lease *l);

#endif
