/* Folders that lie in others by another path (a bind mount): who may come to write on the way there, by any policy. */
#ifndef GPUHELPER_HOST_NESTEDPLACE_H
#define GPUHELPER_HOST_NESTEDPLACE_H

#include "../pure/edits.h"
#include "../pure/policyset.h"

/*
 * As nested_refuse() (pure/nested.h), by the edits' places (way.h) instead of their paths.  -1 with *why, also where
 * that can't be seen.
 */
int nested_refuse_places(const struct policy_set *policies, const struct edits *e, struct why *why);

#endif
