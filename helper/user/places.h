/*
 * Where a container's granted folders came from.  The runtime goes their paths once
 * more after root has looked: who could write on the way, or passed on what he could
 * write by, may have led it elsewhere.  What it mounted shows.
 */
#ifndef GPUHELPER_USER_PLACES_H
#define GPUHELPER_USER_PLACES_H

#include <sys/types.h>

#include "../pure/edits.h"

/* Of each granted folder: where it is to be in the container, and the place that is to be mounted there (way.h). */
struct granted_places {
	struct strlist target, place;
};
void granted_places_free(struct granted_places *p);

/* Those of the edits.  -1 with *why. */
int places_of(const struct edits *e, struct granted_places *out, struct why *why);

/*
 * Is each of these places mounted at its target, as that process sees it, with nothing else there?  -1 with *why:
 * WHY_DENIED with the one that is not, WHY_IO where that can't be seen.  The kernel shows the table of mounts to
 * anybody; a target that leads through links can be followed only by who may trace the process (ptrace(2)).
 */
int places_check(pid_t pid, const struct granted_places *p, struct why *why);

#endif
