/* The directory of settings and policies that an option names, read. */
#ifndef GPUHELPER_CTL_CONFIGLOAD_H
#define GPUHELPER_CTL_CONFIGLOAD_H

#include "../pure/policyset.h"
#include "../pure/settings.h"
#include "ctl.h"

/*
 * What is in o->config_dir, with its caller's rights: *dir and *strict as of ctl_config_dir().  A broken policy is in
 * the set, with its fault.  -1 with *why; the caller frees *dir, the settings and the set in either case.
 */
int config_load(const struct options *o, char **dir, bool *strict, struct settings *settings,
    struct policy_set *policies, struct why *why);

#endif
