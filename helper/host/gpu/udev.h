/* DRM and accel devices, as libudev lists them. Whoever includes this is linked with libudev. */
#ifndef GPUHELPER_HOST_GPU_UDEV_H
#define GPUHELPER_HOST_GPU_UDEV_H

#include "gpus.h"

extern const struct drm_source udev_drm;

/* As gpus_here(), by udev_drm. */
int gpus_of_host(unsigned vendors, struct inventory *inv, struct why *why);

#endif
