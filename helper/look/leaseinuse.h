/* Whether a lease is in use, as the kernel shows it. Must never rely on what a process says. */
#ifndef GPUHELPER_LOOK_LEASEINUSE_H
#define GPUHELPER_LOOK_LEASEINUSE_H

#include "../host/process/scanbudget.h"
#include "../lease/leasefile.h"
#include "nsset.h"

/* What was seen of the host's processes, read once for many leases. Set to zero before the first use. */
struct process_snapshot {
	bool begun;
	char boot[40];
	uint64_t pid_ns;		/* inode of the PID namespace that /proc shows */
	struct ns_set pid_ns_set, mount_ns_set;	/* those with processes */
};
void process_snapshot_free(struct process_snapshot *s);

/* True if the lease was written before this machine booted: then it is not in use. */
bool lease_is_of_another_boot(struct process_snapshot *s, const struct lease *l);

/*
 * True if (a) the process that asked lives, because its runtime may still be creating the container; (b) a
 * process is in the container, wherever it moved; or (c), for a container without a cgroup of its own, a
 * process of its users has one of the GPUs' own nodes open, or one of these nodes or a folder bind-mounted.
 * True as well if that can't be seen.
 */
bool lease_in_use(struct process_snapshot *s, const struct lease *l, struct scan_limits *limits);

#endif
