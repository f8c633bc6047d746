/*
 * GPUs that a container's process has open although it has no lease for them. Another container passed it the
 * descriptor, and is gone. Nobody gets such a GPU exclusively.
 */
#ifndef GPUHELPER_ROOT_GRANT_UNLEASED_H
#define GPUHELPER_ROOT_GRANT_UNLEASED_H

#include "../../policy/driverwant.h"
#include "leasegpus.h"

/*
 * Finds those GPUs that the request may get exclusively and that a process of a container has open. Takes long: must
 * not be called under the lock. -1 with *why. unleased_free() in either case.
 */
int unleased_of_wants(const struct decision *d, struct unleased *out, struct why *why);

/* GPUs to be looked for, and the nodes that belong to one GPU each: node[i] is a node of held[gpu[i]]. */
struct sought {
	struct held_gpu *held;
	size_t n;
	struct edit_node *node;
	size_t *gpu;
	size_t nodes;
};
/* The GPUs that were picked for the lease, and that it has exclusively. -1 with *why. sought_free() in either case. */
int sought_of_picks(const struct lease *l, const struct allotted *pick, const struct driver_nodes *more,
    struct sought *out, struct why *why);
/* As unleased_of_wants(), for these. */
int unleased_of_sought(const struct sought *s, struct unleased *out, struct why *why);
void sought_free(struct sought *s);
#define autosought __attribute__((cleanup(sought_free)))

void unleased_free(struct unleased *s);
#define autounleased __attribute__((cleanup(unleased_free)))

#endif
