/* Reads the list of drained GPUs (gpu/drained.h) of this host. */
#ifndef GPUHELPER_HOST_GPU_DRAINEDLIST_H
#define GPUHELPER_HOST_GPU_DRAINEDLIST_H

#include <stddef.h>

#include "../../base/why.h"
#include "../../gpu/drainedfile.h"

/*
 * Reads the list as the file has it: *text, which the caller frees, *len bytes. A missing file (NULL) means that no GPU
 * is drained. Returns 0, or -1 with *why if the file can't be read or others than root could change it: nobody then
 * knows which GPUs may be granted.
 */
int drained_text(char **text, size_t *len, struct why *why);

#endif
