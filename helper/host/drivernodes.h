/*
 * Nodes that a CDI device has and gpu.h's tables have not, for rules of a CDI kind:
 * which of them a container gets (pure/furthernode.h).
 */
#ifndef GPUHELPER_HOST_DRIVERNODES_H
#define GPUHELPER_HOST_DRIVERNODES_H

#include "driverfiles.h"

struct driver_nodes {
	struct gpu_node v[GPU_NODES_MAX];
	/* the GPU that v[i] is a node of, by its PCI device: who has it open has that GPU; NULL: it is no GPU's own */
	const struct gpu *own[GPU_NODES_MAX];
	size_t n;
};

/*
 * Adds to *out.  Who may use a node is not the spec's to say (its fileMode, uid and
 * additionalGids are left alone): root/device.c sees to that for these as for all
 * others.  Looks at nodes, opens none.  -1 with *why: a node is not what the spec
 * says, or none that this rule can give.
 */
int driver_nodes(const struct driver_question *q, struct driver_nodes *out, struct why *why);

#endif
