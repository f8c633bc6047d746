/* Reads the list of drained GPUs (gpu/drained.h) of this host, and decodes it. */
#ifndef GPUHELPER_HOST_GPU_DRAINEDREAD_H
#define GPUHELPER_HOST_GPU_DRAINEDREAD_H

#include "../../gpu/drained.h"

/* As drained_text() (drainedlist.h). The caller calls drained_free() in any case. */
int drained_list(struct drained *out, struct why *why);

#endif
