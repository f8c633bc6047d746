/*
 * Where a container's granted folders came from.  The runtime goes their paths once
 * more after root has looked: who could write on the way, or passed on what he could
 * write by, may have led it elsewhere.  What it mounted shows.
 */
#ifndef GPUHELPER_USER_PLACES_H
#define GPUHELPER_USER_PLACES_H

#include "../pure/edits.h"

/* Adds the places of the granted folders among the edits' mounts (way.h).  -1 with *why. */
int places_of(const struct edits *e, struct strlist *out, struct why *why);

/*
 * Is each of these places mounted in that process's mount namespace, as often as it
 * is among them?  -1 with *why: WHY_DENIED with the one that is not, WHY_IO where that can't be seen.
 */
int places_check(pid_t pid, const struct strlist *places, struct why *why);

#endif
