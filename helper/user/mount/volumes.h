/* Where the directories of «volumes» in gpuhelper.conf lead, and for whose containers they count. */
#ifndef GPUHELPER_USER_MOUNT_VOLUMES_H
#define GPUHELPER_USER_MOUNT_VOLUMES_H

#include <stdbool.h>
#include <sys/types.h>

#include "../../policy/settings.h"

/*
 * Finds where a volume leads for containers of the user «caller». It counts for them only if nobody but root and
 * that user can change where the path leads: each directory and link on the way belongs to one of the two, and a
 * directory of root's is writable by root alone, or is sticky. Otherwise a user could redirect the path to a
 * directory of the host, and another user's container could get that directory as its root.
 *
 * In a namespace that does not map the host's root, files of root and of other users look alike. There the volume
 * itself must belong to the caller, and so must each link that does not lie in "/".
 *
 * Returns 0, and *real has the path without links, which the caller frees. -1 with *why: the volume does not count.
 */
int volume_resolve(const char *volume, uid_t caller, char **real, struct why *why);

/* True for a path without links that is beneath a volume which counts for the caller. */
bool volumes_have(const struct settings *settings, const char *path, uid_t caller);

#endif
