/* What gpuhelper-engine adds to a container for its driver, which the helper has passed on unread. */
#ifndef GPUHELPER_USER_VET_TAKEDRIVER_H
#define GPUHELPER_USER_VET_TAKEDRIVER_H

#include "../../ask/driveredits.h"
#include "../../policy/settings.h"

/*
 * Decodes e->driver, and adds it to the rest of *e: overrides no variable, and sorts the mounts. Every wrapper does
 * this with the reply to a grant; root's then compares all of it with root's files (vetting.h). 0, or -1 with *why: it
 * is malformed, has a path that the helper did not hear of, meets a folder, or gpuhelper.conf allows no such variable.
 */
int take_driver_edits(struct edits *e, const struct settings *s, struct why *why);

#endif
