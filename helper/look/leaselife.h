/* Whether anybody keeps a lease, as the kernel shows it. Must never rely on what a process says. */
#ifndef GPUHELPER_LOOK_LEASELIFE_H
#define GPUHELPER_LOOK_LEASELIFE_H

#include "../host/process/looks.h"
#include "../lease/leasefile.h"
#include "spaceset.h"

/* What was seen of the host's processes, read once for many leases. Set to zero before the first use. */
struct life_sight {
	bool begun;
	char boot[40];
	uint64_t pids;		/* inode of the PID namespace that /proc shows */
	struct space_set pid_spaces, mount_spaces;	/* those with processes */
};
void life_sight_free(struct life_sight *s);

/* True if the lease was written before this machine booted: then nobody can keep it. */
bool lease_is_of_another_boot(struct life_sight *s, const struct lease *l);

/*
 * True if (a) the process that asked lives, because its runtime may still be creating the container; (b) a
 * process is in the container, wherever it moved; or (c), for a container without a cgroup of its own, a
 * process of its users has one of the GPUs' own nodes open, or one of these nodes or a folder bind-mounted.
 * True as well if that can't be seen.
 */
bool lease_is_kept(struct life_sight *s, const struct lease *l, struct life_share *share);

#endif
