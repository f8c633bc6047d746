/* For a program without libudev, on a host that has no DRM or accel node of a GPU. */
#ifndef GPUHELPER_HOST_GPU_NODRM_H
#define GPUHELPER_HOST_GPU_NODRM_H

#include "drmnodes.h"

/*
 * Lists none; fails with WHY_AGAIN if the host has one all the same. If it can't see whether a device has udev's tag,
 * it says that udev removes the entries of users: then the entry is a group's, which stays in any case.
 */
extern const struct drm_source no_drm;

#endif
