/*
 * NVIDIA's MIG: parses /proc/driver/nvidia/capabilities about a GPU's instances (NVIDIA Multi-Instance GPU
 * User Guide, «Device Nodes and Capabilities»). A GPU instance GI has a part of the memory, which its compute
 * instances CI share.
 */
#ifndef GPUHELPER_GPU_MIG_H
#define GPUHELPER_GPU_MIG_H

#include <stdbool.h>
#include <stdint.h>

#include "../base/why.h"

#define MIG_NUMBER_MAX 99	/* of a GPU instance or a compute instance */

/* Parses a directory's name: prefix («gi», «ci») and a number below 100. */
bool mig_dir_parse(const char *name, const char *prefix, uint32_t *number);

/* Parses an «access» file: the minor of the node /dev/nvidia-caps/nvidia-capMINOR. 0, or -1 with *why. */
int mig_access_parse(const char *text, uint32_t *minor, struct why *why);

/* A number that sorts the parts of a GPU: the whole first, then by GI, each GI before its CIs. */
unsigned mig_part_order(const char *part);

/* If «name» ends with ":" and the part, copies what is before, the GPU's name, to base. False otherwise. */
bool mig_name_split(const char *name, const char *part, char *base, size_t size);

/*
 * Removes a trailing ":NUMBER" from a name; false if there is none. Call it once for "GPU:GI" and twice for
 * "GPU:GI:CI". The end of a PCI address does not count.
 */
bool mig_name_shorten(char *name);

#endif
