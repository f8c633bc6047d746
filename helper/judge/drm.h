/* Where gpuhelper-judge looks up DRM and accel nodes. */
#ifndef GPUHELPER_JUDGE_DRM_H
#define GPUHELPER_JUDGE_DRM_H

#include "../host/gpu/drmnodes.h"

/* Each of the two programs made of main.c is linked with its own: judgeplain.c (nodrm.h) or judgeudev.c (udev.h). */
extern const struct drm_source *const judge_drm;

#endif
