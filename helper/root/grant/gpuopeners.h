/*
 * GPUs that a container's process has open although it has no lease for them. Another container passed it the
 * descriptor, and is gone. Nobody gets such a GPU exclusively.
 */
#ifndef GPUHELPER_ROOT_GRANT_GPUOPENERS_H
#define GPUHELPER_ROOT_GRANT_GPUOPENERS_H

#include "../../policy/grantedgpu.h"
#include "leasegpus.h"

/*
 * Finds those GPUs that the request may get exclusively and that a process of a container has open. Takes long: must
 * not be called under the lock. -1 with *why. gpu_openers_free() in either case.
 */
int gpu_openers_of_decision(const struct decision *d, struct gpu_openers *out, struct why *why);

/* GPUs to be looked for, and the nodes that belong to one GPU each: node[i] is a node of held[gpu[i]]. */
struct nodes_to_scan {
	struct leased_gpu *held;
	size_t n;
	struct edit_node *node;
	size_t *gpu;
	size_t nodes;
};
/*
 * The GPUs that were picked for the lease, and that it has exclusively. -1 with *why. nodes_to_scan_free() in either
 * case.
 */
int nodes_to_scan_of_picks(const struct lease *l, const struct granted_gpu *pick, const struct extra_nodes *more,
    struct nodes_to_scan *out, struct why *why);
/* As gpu_openers_of_decision(), for these. */
int gpu_openers_of_nodes(const struct nodes_to_scan *s, struct gpu_openers *out, struct why *why);
void nodes_to_scan_free(struct nodes_to_scan *s);
#define autonodestoscan __attribute__((cleanup(nodes_to_scan_free)))

void gpu_openers_free(struct gpu_openers *s);
#define autogpuopeners __attribute__((cleanup(gpu_openers_free)))

#endif
