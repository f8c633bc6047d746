/* The folders of a grant: whether they exist on the host, and whether they may be given to the container. */
#ifndef GPUHELPER_HOST_FOLDER_FOLDERS_H
#define GPUHELPER_HOST_FOLDER_FOLDERS_H

#include "../../lease/edits.h"
#include "../../policy/policygrant.h"
#include "../access.h"
#include "mounts.h"

/*
 * Resolves each folder of the grant, matches patterns against existing folders, refuses any path that others
 * than root could redirect before the runtime resolves it again, and adds the bind mounts to *out. Returns 0,
 * or -1 with *why; WHY_IO says that this process may not look.
 */
int folders_resolve(const struct grant *g, const struct subject *s, struct edits *out, struct why *why);

/* The same by a mount table that the caller has read; NULL: it could not be seen. */
int folders_resolve_among(const struct mount_table *mounts, const struct grant *g, const struct subject *s,
    struct edits *out, struct why *why);

#endif
