/* See drm.h. For gpuhelper-judge: static, because that starts faster, and so without libudev. */
#include "../host/gpu/nodrm.h"
#include "drm.h"

const struct drm_source *const judge_drm = &no_drm;
