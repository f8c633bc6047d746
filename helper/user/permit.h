/* What the options of a command line would make of a container, whatever its config.json says. */
#ifndef GPUHELPER_USER_PERMIT_H
#define GPUHELPER_USER_PERMIT_H

#include "../pure/settings.h"
#include "argv.h"

/*
 * -1 with *why for a container that the options keep its device rules from holding
 * for, and where privileged = "deny" is said, for one that comes from an image.
 * by_root: the caller is the host's root.
 */
int permit_check(const struct command *c, const struct settings *settings, bool by_root, struct why *why);

#endif
