/* Reads /proc/devices. Apart from gpus.c, so that the wrapper needs no libudev. */
#ifndef GPUHELPER_HOST_GPU_MAJORS_H
#define GPUHELPER_HOST_GPU_MAJORS_H

#include "../../gpu/gpu.h"

/* Reads proc/devices beneath the directory «root». 0, or -1 with *why; devmajors_free() in any case. */
int majors_read(int root, struct devmajors *out, struct why *why);

#endif
