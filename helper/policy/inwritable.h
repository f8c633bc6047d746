/* Refuses a folder within another one, if a policy lets someone write on the way to it. */
#ifndef GPUHELPER_POLICY_INWRITABLE_H
#define GPUHELPER_POLICY_INWRITABLE_H

#include "../lease/edits.h"
#include "policyset.h"

/*
 * Refuses (WHY_DENIED) a mount in a folder that any policy grants for writing. With «run», the container's
 * task would start before the helper can see whether somebody redirected the path. A policy that can't be
 * read may grant any folder. Returns 0, or -1 with *why.
 */
int refuse_in_writable(const struct policy_set *policies, const struct edits *e, struct why *why);

#endif
