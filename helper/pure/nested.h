/* Folders that lie in others: who may come to write on the way to them, by any policy. */
#ifndef GPUHELPER_PURE_NESTED_H
#define GPUHELPER_PURE_NESTED_H

#include "edits.h"
#include "policyset.h"

/*
 * Refuses (WHY_DENIED) where one of the edits' mounts lies in a folder that any of the
 * policies gives for writing: the container's task would start before it can be
 * seen that nobody has led its path elsewhere.  A policy that can't be read may give any.
 */
int nested_refuse(const struct policy_set *policies, const struct edits *e, struct why *why);

#endif
