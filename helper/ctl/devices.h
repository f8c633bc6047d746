/* gpuhelperctl devices and tags: which of the host's GPUs a container may get. */
#ifndef GPUHELPER_CTL_DEVICES_H
#define GPUHELPER_CTL_DEVICES_H

#include "../pure/gpu.h"
#include "../pure/settings.h"
#include "ctl.h"

/*
 * The settings, for what they say of integrated GPUs: the defaults where they can't be read, which is check's to tell.
 * -1 with *why: no memory.  settings_free() in either case.
 */
int devices_settings(const struct options *o, struct settings *s, struct why *why);

#endif
