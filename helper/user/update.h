/* update: a container's limits may change, and what devices it may open may not. */
#ifndef GPUHELPER_USER_UPDATE_H
#define GPUHELPER_USER_UPDATE_H

#include "argv.h"

/*
 * crun writes the device rules of --resources FILE («-»: standard input) into the
 * container's cgroup.  *argv becomes the one to run instead: its own words, with a
 * memfd in place of FILE that has no «devices»; it lives until the process becomes
 * the runtime.  -1 with *why, also for a FILE that can't be read or is no JSON, and for what
 * resources.h refuses.
 */
int update_prepare(int argc, char *const **argv, const struct command *c, struct why *why);

#endif
