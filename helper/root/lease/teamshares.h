/*
 * Fair shares of the GPUs (policy/usage.h). What each team has used is in /run/gpuhelper/shares/usage, which is there
 * only while gpuhelper.conf has team_shares. All is done under the lock on the leases.
 */
#ifndef GPUHELPER_ROOT_LEASE_TEAMSHARES_H
#define GPUHELPER_ROOT_LEASE_TEAMSHARES_H

#include "../../policy/settings.h"
#include "leaselist.h"
#include "queue.h"

/* Notes that the lease's GPUs are given back. */
void team_shares_note(const struct lease *l);

/*
 * Orders the queue by what each team has used for its share, and sets me->share_used. *ls must have all leases. Without
 * settings, the shares are those of the last request, and «me» may be NULL.
 */
void team_shares_rank(struct queue *q, struct queued *me, const struct leases *ls, const struct settings *s);

#endif
