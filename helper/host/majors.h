/* /proc/devices, for those who need no GPU: the wrapper links this without libudev. */
#ifndef GPUHELPER_HOST_MAJORS_H
#define GPUHELPER_HOST_MAJORS_H

#include "../pure/gpu.h"

/* Reads proc/devices beneath the directory «root».  -1 with *why; devmajors_free() in either case. */
int majors_read(int root, struct devmajors *out, struct why *why);

#endif
