/* The settings of a host whose gpuhelper.conf sets none. */
#ifndef GPUHELPER_POLICY_SETTINGSDEFAULT_H
#define GPUHELPER_POLICY_SETTINGSDEFAULT_H

#include "settings.h"

/* Sets the defaults of all settings. False if memory is short. */
bool settings_default(struct settings *s);

#endif
