/* Reads the list of drained GPUs (gpu/drained.h) of this host. */
#ifndef GPUHELPER_HOST_GPU_DRAINEDLIST_H
#define GPUHELPER_HOST_GPU_DRAINEDLIST_H

#include "../../gpu/drained.h"

/*
 * Reads the list. A missing file means that no GPU is drained. Returns 0, or -1 with *why if the file can't
 * be read or others than root could change it: nobody then knows which GPUs may be granted. The caller calls
 * drained_free() in any case.
 */
int drained_list(struct drained *out, struct why *why);

/* The same, but as the file has it: *text, which the caller frees, *len bytes. NULL: no GPU is drained. */
int drained_text(char **text, size_t *len, struct why *why);

#endif
