/* How much may be scanned while others wait for the answer. */
#ifndef GPUHELPER_HOST_PROCESS_SCANBUDGET_H
#define GPUHELPER_HOST_PROCESS_SCANBUDGET_H

#include <stdbool.h>
#include <stdint.h>

#define SCAN_STEPS 20000	/* descriptors and mounts that are looked at, for the processes of one user */
#define SCAN_MS 200		/* the time limit for these steps */
#define CGROUP_DIRS 4096	/* cgroups: more than any container makes */

/* How many steps are left, and until when: users can have many processes with many descriptors. */
struct budget {
	unsigned left;
	int64_t until;		/* clock_ms(); 0: the first step sets it */
};

/* The same for all leases of one user. */
struct scan_limits {
	struct budget budget;	/* at descriptors and mounts of processes */
	unsigned dirs;		/* directories of cgroups */
	bool stalled;		/* a process kept the scan waiting: scan nothing more */
};

#endif
