/* Refuses options of a command line that would give a container more than its config.json says. */
#ifndef GPUHELPER_USER_COMMAND_OPTIONCHECK_H
#define GPUHELPER_USER_COMMAND_OPTIONCHECK_H

#include "../../policy/settings.h"
#include "argv.h"

/*
 * Returns -1 with *why if the options keep the container's device rules from being enforced or, with
 * privileged = "deny", if the container comes from an image (restore); otherwise 0. «by_root» is true if the
 * caller is the host's root.
 */
int options_check(const struct command *c, const struct settings *settings, bool by_root, struct why *why);

#endif
