/* Which GPUs of this host the names in CDI specs refer to. */
#ifndef GPUHELPER_HOST_DRIVER_CDIGPUS_H
#define GPUHELPER_HOST_DRIVER_CDIGPUS_H

#include "../../gpu/gpu.h"
#include "cdidirs.h"

/*
 * Adds to «cdi» of the inventory's GPUs their names in the specs, and to «cdi_problem» the specs that can't be used. A
 * spec may have a GPU's node at another path (hostPath: /run/nvidia/driver/dev/nvidia0): the node is known by
 * the number that the spec says or, without one, by that of the node at hostPath, if only root can change the
 * directories on the way. A node that all GPUs of a vendor share may be missing there. The node in *r then gets the
 * inventory's path as its hostPath. So everything that compares nodes of *r with the inventory afterwards needs only
 * their paths, and what a grant opens is the host's own node. «cdi_others» gets the first device of each kind that is
 * no GPU, with the reason.
 * Looks by lstat(2) and readlink(2). Returns 0, or -1 with *why if memory is short.
 */
int cdigpus_name(struct cdi_registry *r, struct inventory *inv, struct why *why);

/*
 * Loads the specs of CDI_DIRS, for root, into *r, and does the same by them. Returns 0, or -1 with *why. The
 * caller calls cdi_registry_free() in any case.
 */
int cdigpus_load(cdi_parser *parse, struct cdi_registry *r, struct inventory *inv, struct why *why);

#endif
