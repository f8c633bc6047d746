/* The list of drained GPUs (pure/drained.h) on this host. */
#ifndef GPUHELPER_HOST_DRAINEDLIST_H
#define GPUHELPER_HOST_DRAINEDLIST_H

#include "../pure/drained.h"

#define DRAINED_LIST GPUHELPER_STATEDIR "/" DRAINED_NAME

/*
 * Reads it; none where there is no file.  -1 with *why where it can't be read, or is not root's: nobody knows then
 * which GPUs may be given.  drained_free() in either case.
 */
int drained_list(struct drained *out, struct why *why);

#endif
