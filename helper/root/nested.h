/* Folders that lie in others: who may come to write on the way to them, by any policy. */
#ifndef GPUHELPER_ROOT_NESTED_H
#define GPUHELPER_ROOT_NESTED_H

#include "../host/etc.h"
#include "../pure/edits.h"

/*
 * Refuses (WHY_DENIED) where one of the edits' mounts lies in a folder that any of the
 * policies gives for writing: the container's task would start before it can be
 * seen that nobody has led its path elsewhere.  A policy that can't be read may give any.
 */
int nested_refuse(const struct policy_files *files, const struct edits *e, struct why *why);

#endif
