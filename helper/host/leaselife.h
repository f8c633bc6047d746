/* Does anybody keep a lease? As the kernel shows it, never on anyone's word. */
#ifndef GPUHELPER_HOST_LEASELIFE_H
#define GPUHELPER_HOST_LEASELIFE_H

#include "../pure/leasefile.h"
#include "inuse.h"
#include "spaces.h"

/* Whom there is to be looked at: read once, for many leases. Begins empty. */
struct life_sight {
	bool begun;
	char boot[40];
	uint64_t pids;		/* the PID namespace that is seen from here (inode) */
	struct space_set pid_spaces, mount_spaces;	/* that someone is in */
};
void life_sight_free(struct life_sight *s);

/* How much may be looked at, while others wait for the answer. What is left of it. */
struct life_share {
	struct looks looks;	/* at what processes have */
	unsigned dirs;		/* of cgroups */
	bool unseen;		/* who looked was kept waiting: no more is looked at */
};

/* True where the lease was written before this machine booted: nobody can keep it. */
bool lease_is_of_another_boot(struct life_sight *s, const struct lease *l);

/*
 * True where (a) the process that asked lives: its runtime is still creating; or (b) somebody is in the container,
 * wherever he went; or (c) where it has no cgroup of its own, a process of its users has one of the GPUs' own nodes
 * open, or one of those or a folder bound into its mounts. True as well where that can't be seen.
 */
bool lease_is_kept(struct life_sight *s, const struct lease *l, struct life_share *share);

#endif
