/*
 * Strays: GPUs that a container's process has open although it has no lease for them. Another container passed it the
 * descriptor, and is gone. Nobody gets such a GPU exclusively.
 */
#ifndef GPUHELPER_ROOT_GRANT_STRAYS_H
#define GPUHELPER_ROOT_GRANT_STRAYS_H

#include "../../policy/driverwant.h"
#include "allot.h"

/*
 * Finds those GPUs that the request may get exclusively and that a process of a container has open. Takes long: must
 * not be called under the lock. -1 with *why. strays_free() in either case.
 */
int strays_of_wants(const struct decision *d, struct strays *out, struct why *why);
/* The same for the GPUs that were picked for the lease, and their further nodes. */
int strays_of_picks(const struct lease *l, const struct allotted *pick, const struct driver_nodes *more,
    struct strays *out, struct why *why);
void strays_free(struct strays *s);
#define autostrays __attribute__((cleanup(strays_free)))

#endif
