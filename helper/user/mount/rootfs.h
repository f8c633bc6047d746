/* Checks the container's root filesystem, and resolves paths in it as the runtime will. */
#ifndef GPUHELPER_USER_MOUNT_ROOTFS_H
#define GPUHELPER_USER_MOUNT_ROOTFS_H

#include "../../lease/edits.h"
#include "../../policy/settings.h"
#include "../spec/spec.h"

/*
 * True if the path leads to a volume or beneath one, or can't be resolved. Counts each volume, for whichever user
 * it counts (volumes.h).
 */
bool rootfs_is_in_volumes(const char *path, const struct settings *settings);

/*
 * True if the volumes allow a root filesystem in this directory, which must exist, to containers of the user «caller».
 * Ignores bundles.
 */
bool rootfs_may_lie_in(const char *dir, const struct settings *settings, uid_t caller);

/*
 * Opens root.path. Resolved, it must be beneath the bundle or one of the volumes that count for the user «caller»
 * (volumes.h), or be a mount of a directory there. Otherwise a task with «rootfs_uri: raw:///» would get the host's
 * root directory. *fd gets the root (O_PATH), *path its path without links; the function's caller closes and frees
 * them in any case. Returns 0, or -1 with *why.
 */
int rootfs_open(const struct spec *s, const char *bundle, const struct settings *settings, uid_t caller, int *fd,
    char **path, struct why *why);

/*
 * True if only root and the caller can redirect root.path from «path», where rootfs_open() found it to lead:
 * no link leads there, and nobody else can rename a directory above.
 */
bool rootfs_is_guarded(const struct spec *s, const char *bundle, const char *path);

/*
 * True if a container could have the directory above root.path mounted writable: as the host's root, it could redirect
 * root.path. False outside of the volumes. A mount on the volumes' own file system does not count: engines store
 * images that way.
 */
bool rootfs_may_be_written_above(const char *path, const struct settings *settings);

/* True if a container has. Looks at all processes of the host. */
bool rootfs_is_written_above(const char *path, const struct settings *settings);

/*
 * Refuses a mount of the container at, above or beneath what is granted, both as text and after the links of
 * the root filesystem. Ignores a mount that brings the same as the grant (spec_mount.duplicate). «fd» and «path» are
 * those of rootfs_open(). Returns 0, or -1 with *why.
 */
int rootfs_check_conflicts(const struct spec *s, int fd, const char *path, const struct edits *e, struct why *why);

#endif
