/* Which leases a request for a grant has to know (struct concern, leaselist.h), while it is served under the lock. */
#ifndef GPUHELPER_ROOT_CONCERN_H
#define GPUHELPER_ROOT_CONCERN_H

#include "work.h"

/*
 * Before GPUs are picked: looks at the container's own lease, all that may have a
 * GPU which it could get, or which someone could get who waits before it (what he
 * gets is not there for this one), and all that folders and labels are checked
 * against if it is to be admitted.  -1 with w->why.
 */
int concern_look(struct work *w, struct leases *ls, const struct queue *q, bool admits);

/* Once they are picked: reads all that have acts on a node that the container needs.  -1 with w->why. */
int concern_read_nodes(struct work *w, struct leases *ls);

#endif
