/*
 * Which GPUs are joined: by NVSwitches, by AMD's XGMI, or by PCI switches. So GPUs that work together can be granted
 * together. Nothing here decides who may have a GPU.
 */
#ifndef GPUHELPER_HOST_GPU_TOPOLOGY_H
#define GPUHELPER_HOST_GPU_TOPOLOGY_H

#include "../../gpu/gpu.h"

/*
 * Fills gpu.joined[] of every GPU, which are sorted, from proc/ and sys/ beneath «root»; amd_fill() has filled the XGMI
 * links with any equal numbers. What can't be read joins no GPUs. No file tells of NVLink bridges between single cards.
 */
void topology_find(int root, struct inventory *inv);

#endif
