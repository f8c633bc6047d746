/* Whether the kernel keeps containers from GPUs that they were not granted. */
#ifndef GPUHELPER_CTL_WORKER_ROOTFUL_H
#define GPUHELPER_CTL_WORKER_ROOTFUL_H

#include "../../policy/settings.h"

/*
 * True if a device cgroup limits containers of this user's runtimes to their GPUs.  Writes the answer and its
 * consequences to text.
 */
bool rootful_for(uint32_t uid, const struct settings *settings, char *text, size_t size);

#endif
