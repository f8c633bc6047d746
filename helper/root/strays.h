/*
 * GPUs that a container's process has open though no lease says so: one that was
 * passed the descriptor by another container, which is gone.  None of them is
 * given to someone alone.
 */
#ifndef GPUHELPER_ROOT_STRAYS_H
#define GPUHELPER_ROOT_STRAYS_H

#include "../host/drivernodes.h"
#include "../pure/settings.h"
#include "allot.h"

/*
 * Of the GPUs that the request may get for itself alone: those that any
 * container's process has open.  Takes its time: never under the lock.  -1 with
 * *why.  strays_free() in either case.
 */
int strays_of_wants(const struct decision *d, const struct settings *settings, struct strays *out, struct why *why);
/* The same of those that it was given, with these further nodes. */
int strays_of_picks(const struct lease *l, const struct allotted *pick, const struct driver_nodes *more,
    struct strays *out, struct why *why);
void strays_free(struct strays *s);
#define autostrays __attribute__((cleanup(strays_free)))

#endif
