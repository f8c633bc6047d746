/*
 * GPUs that a container's process has open although it has no lease for them. Another container passed it the
 * descriptor, and is gone. Nobody gets such a GPU exclusively.
 */
#ifndef GPUHELPER_ROOT_GRANT_UNLEASED_H
#define GPUHELPER_ROOT_GRANT_UNLEASED_H

#include "../../policy/driverwant.h"
#include "allot.h"

/*
 * Finds those GPUs that the request may get exclusively and that a process of a container has open. Takes long: must
 * not be called under the lock. -1 with *why. unleased_free() in either case.
 */
int unleased_of_wants(const struct decision *d, struct unleased *out, struct why *why);
/* The same for the GPUs that were picked for the lease, and their further nodes. */
int unleased_of_picks(const struct lease *l, const struct allotted *pick, const struct driver_nodes *more,
    struct unleased *out, struct why *why);
void unleased_free(struct unleased *s);
#define autounleased __attribute__((cleanup(unleased_free)))

#endif
