/* Decides which GPUs a request gets: free ones, except those that are reserved for earlier requests. */
#ifndef GPUHELPER_ENGINE_ALLOCATE_H
#define GPUHELPER_ENGINE_ALLOCATE_H

#include "allocation.h"

/* True if max_gpus of the policy allows what is wanted beside what the policy's containers hold. */
bool allocation_in_quota(const struct allocation *s);

/*
 * Picks GPUs, except those open without a lease and drained ones: *n of them. -1 with *why: WHY_AGAIN if too few are
 * free, naming the holders that s->who may know and the number of earlier requests; WHY_DENIED if too few are in
 * service, so that no wait would help.
 */
int allocate_gpus(const struct allocation *s, struct pick picks[GPUS_MAX], size_t *n, struct why *why);

#endif
