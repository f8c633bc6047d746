/* Root's own look at the folders that gpuhelper-look found. */
#ifndef GPUHELPER_ROOT_GRANT_FOLDERWALK_H
#define GPUHELPER_ROOT_GRANT_FOLDERWALK_H

#include "../../lease/edits.h"

/*
 * Checks that each granted folder of the edits is a directory, and that its path leads through directories that only
 * root can change, without links: the runtime will find there what the policy names, whatever gpuhelper-look has said.
 * -1 with *why.
 */
int folder_walk_check(const struct edits *e, struct why *why);

#endif
