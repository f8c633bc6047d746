/* The settings for gpuhelperctl devices and tags: which of the host's GPUs a container may get. */
#ifndef GPUHELPER_CTL_GPUS_DEVICES_H
#define GPUHELPER_CTL_GPUS_DEVICES_H

#include "../../gpu/gpu.h"
#include "../../policy/settings.h"
#include "../ctl.h"

/*
 * Loads the settings, which say whether containers may get integrated GPUs.  Uses the defaults if gpuhelper.conf can't
 * be read; «check» reports that error.  -1 with *why: out of memory.  The caller calls settings_free() in any case.
 */
int devices_settings(const struct options *o, struct settings *s, struct why *why);

#endif
