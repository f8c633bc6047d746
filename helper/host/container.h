/* A container's processes, as the kernel shows them to root. */
#ifndef GPUHELPER_HOST_CONTAINER_H
#define GPUHELPER_HOST_CONTAINER_H

#include "../pure/leasefile.h"

/*
 * The first process of the container that a runtime, which «parent» had started,
 * has just made: what it left to its parent when it ended (a subreaper,
 * prctl(2)).  «Besides» is another child of the parent's: the process that asks
 * this.  Of several the one that is process 1 of a PID namespace of its own.
 * False where it can't be told.
 */
bool container_find_init(pid_t parent, pid_t besides, struct process_id *out);

/* What there is to be seen in the container of a lease with «pauses». */
void container_see(const struct lease *l, struct sight *out);

/*
 * True where a cgroup has rules for devices that can be seen: of one that allows all
 * devices but some, v1 says only that it allows all.
 */
bool container_is_ruled(const char *gate);

/* True where the container may not open the lease's nodes, or that can't be seen from here (cgroup v2). */
bool container_is_shut(const struct lease *l);

#endif
