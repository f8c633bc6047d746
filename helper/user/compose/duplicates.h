/*
 * An engine may have put the granted GPU into config.json already («--device nvidia.com/gpu=0», by the same CDI spec).
 * Finds what is there twice, so that the container gets it once.
 */
#ifndef GPUHELPER_USER_COMPOSE_DUPLICATES_H
#define GPUHELPER_USER_COMPOSE_DUPLICATES_H

#include "../../lease/edits.h"
#include "../spec/spec.h"

/*
 * Marks the mounts of *s that bring just what the grant mounts at the same place (spec_mount.duplicate): a driver's
 * file, or a node. The granted mount then replaces the engine's, so a task gains nothing by such a mount. Marks the
 * driver's names in *e at which a hook of the engine makes a link (edit_mount.linked): the hook fails at a mount point.
 * Returns 0, or -1 with *why: memory is short.
 */
int duplicates_mark(struct spec *s, struct edits *e, struct why *why);

#endif
