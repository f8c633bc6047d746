/* The container's root filesystem, and paths as they will be in it. */
#ifndef GPUHELPER_USER_ROOTFS_H
#define GPUHELPER_USER_ROOTFS_H

#include "../pure/edits.h"
#include "../pure/settings.h"
#include "spec.h"

/* True if the path leads to one of the volumes or beneath, or can't be resolved. */
bool rootfs_is_in_volumes(const char *path, const struct settings *settings);

/* True if what lies in the directory, which is there, may be a root filesystem: by the volumes, not by a bundle. */
bool rootfs_may_lie_in(const char *dir, const struct settings *settings);

/*
 * root.path, resolved, must lie beneath the bundle or one of the volumes, or be a mount
 * of a directory there: a task's «rootfs_uri: raw:///» would otherwise be the host.  *fd gets the root,
 * *path its resolved path (the caller closes and frees).
 */
int rootfs_open(const struct spec *s, const char *bundle, const struct settings *settings, int *fd, char **path,
    struct why *why);

/*
 * True if nobody but root and the caller can have root.path lead elsewhere than to
 * «path», where rootfs_open() found it to lead: not by a link, nor in a directory
 * above.
 */
bool rootfs_is_guarded(const struct spec *s, const char *bundle, const char *path);

/*
 * True if a container has the directory above root.path mounted to write in: as the
 * host's root it could have root.path lead elsewhere.  False outside of volumes, and
 * for a mount on the volumes' own file system, which is how engines keep images.
 */
bool rootfs_is_written_above(const char *path, const struct settings *settings);

/*
 * No mount of the request may be at, above or beneath what is granted: compared
 * as text and as the root filesystem's own links make it.
 */
int rootfs_check_conflicts(const struct spec *s, int fd, const char *path, const struct edits *e, struct why *why);

#endif
