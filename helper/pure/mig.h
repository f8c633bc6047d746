/*
 * NVIDIA's MIG: what /proc/driver/nvidia/capabilities says of a GPU's instances
 * (NVIDIA Multi-Instance GPU User Guide, «Device Nodes and Capabilities»).
 * GPU instance GI has a part of the memory, its compute instances CI share that.
 */
#ifndef GPUHELPER_PURE_MIG_H
#define GPUHELPER_PURE_MIG_H

#include <stdbool.h>
#include <stdint.h>

#include "why.h"

#define MIG_NUMBER_MAX 99	/* of a GPU instance or a compute instance */

/* A directory's name: prefix («gi», «ci») and a number below 100. */
bool mig_dir_parse(const char *name, const char *prefix, uint32_t *number);

/* An «access» file: the minor of the node /dev/nvidia-caps/nvidia-capMINOR. */
int mig_access_parse(const char *text, uint32_t *minor, struct why *why);

/* Orders parts of one GPU: all of it first, then by GI, all of each before its CIs. */
unsigned mig_part_order(const char *part);

/*
 * If «name» ends with ":" and the part, what stands before that is copied to
 * base: the name of the GPU.
 */
bool mig_name_split(const char *name, const char *part, char *base, size_t size);

/*
 * Takes a trailing ":NUMBER" off a name; false if there is none.  Once for
 * "GPU:GI", twice for "GPU:GI:CI"; the end of a PCI address is none.
 */
bool mig_name_shorten(char *name);

#endif
