/*
 * GPUs that a container's process has open although no lease says so: another container, which is gone, passed it the
 * descriptor.  No such GPU is given to anyone for himself alone.
 */
#ifndef GPUHELPER_ROOT_STRAYS_H
#define GPUHELPER_ROOT_STRAYS_H

#include "../host/drivernodes.h"
#include "../pure/settings.h"
#include "allot.h"

/*
 * Those of the GPUs that the request may get for itself alone which a process of any container has open.  Takes long,
 * so it must not be called under the lock.  -1 with *why.  strays_free() in either case.
 */
int strays_of_wants(const struct decision *d, const struct settings *settings, struct strays *out, struct why *why);
/* The same for the GPUs that it was given, with their further nodes. */
int strays_of_picks(const struct lease *l, const struct allotted *pick, const struct driver_nodes *more,
    struct strays *out, struct why *why);
void strays_free(struct strays *s);
#define autostrays __attribute__((cleanup(strays_free)))

#endif
