/*
 * Refuses a folder that lies in another one by its file system path (a bind mount), if a policy lets someone write on
 * the way to it.
 */
#ifndef GPUHELPER_HOST_FOLDER_INWRITABLEBIND_H
#define GPUHELPER_HOST_FOLDER_INWRITABLEBIND_H

#include "../../lease/edits.h"
#include "../../policy/policyset.h"

/*
 * The same as refuse_in_writable() (policy/inwritable.h), by the file system paths of the edits' folders (lookup.h)
 * instead of their paths. Returns 0, or -1 with *why: also if a file system path can't be seen.
 */
int refuse_bind_in_writable(const struct policy_set *policies, const struct edits *e, struct why *why);

#endif
