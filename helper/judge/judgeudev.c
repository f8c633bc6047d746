/* See drm.h. For gpuhelper-judge-udev, which the helper starts where DRM or accel nodes are (root/child/judge.c). */
#include "../host/gpu/udev.h"
#include "drm.h"

const struct drm_source *const judge_drm = &udev_drm;
