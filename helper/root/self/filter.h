/* The filter of system calls (seccomp(2)): limits what code that an attacker gets to run in a process can do. */
#ifndef GPUHELPER_ROOT_SELF_FILTER_H
#define GPUHELPER_ROOT_SELF_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../base/why.h"

#define FILTER_MAJORS_MAX 16
#define FILTER_CHILDREN_MAX 5

/* The values that the helper's own filter allows in arguments. */
struct filter_nodes {
	uint32_t major[FILTER_MAJORS_MAX];	/* of nodes that may be made: the driver's */
	size_t majors;
	uint32_t uid, gid;		/* to which such a node may be given */
	bool links;			/* links to nodes may be made; only for root's containers (devchar.h) */
	uint32_t child[FILTER_CHILDREN_MAX];	/* the programs that it started, and may kill */
	size_t children;
	int labeller_channel;		/* the socket that may pass descriptors (labeller.h); -1: none */
	uint32_t caller;		/* the uid to which all ids may be set (leave()); 0: none */
};

/*
 * Installs the filter of the helper itself, which can't be removed. The filter allows the calls that the helper makes,
 * and ends the process at those that an attacker would make. All others fail with ENOSYS, so that a newer C library
 * falls back to an older call. -1 with *why: also if the kernel has no seccomp(2). Needs no_new_privs.
 */
int filter_install(const struct filter_nodes *nodes, struct why *why);

#endif
