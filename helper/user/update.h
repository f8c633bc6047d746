/* Handles update: a container's limits may change, but not the devices that it may open. */
#ifndef GPUHELPER_USER_UPDATE_H
#define GPUHELPER_USER_UPDATE_H

#include "command/argv.h"

/*
 * crun applies device rules in --resources FILE («-»: standard input) to the container's cgroup. Sets *argv
 * to the one to run instead: the same words, with a memory file without «devices» in place of FILE. It is
 * valid until this process becomes the runtime. Returns 0, or -1 with *why, also if FILE can't be read or is
 * not JSON, and for what resources.h refuses.
 */
int update_prepare(int argc, char *const **argv, const struct command *c, struct why *why);

#endif
