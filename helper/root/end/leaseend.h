/* Ends leases: only when root itself sees that they are over, never because somebody says so. */
#ifndef GPUHELPER_ROOT_END_LEASEEND_H
#define GPUHELPER_ROOT_END_LEASEEND_H

#include "../enter/peer.h"
#include "../lease/leaselist.h"

/*
 * Ends those of the leases that were read (leases_read()) that are over: undoes their changes, writes a record of each
 * end to the log «audit», and removes them. A lease that can't be undone stays, marked as over, and holds what it held.
 * With audit -1, only marks them and changes nothing. -1 with *why. The caller keeps *ls and its lock in any case.
 * Root's timer ends the leases that concern no request.
 */
int leases_reap(struct leases *ls, int audit, struct why *why);
/*
 * Undoes the changes of a lease, and removes it and its exec record. -1 with *why: it stays, with the changes that are
 * left.
 */
int leases_remove(struct leases *ls, struct lease *l, struct why *why);

/*
 * Writes the record of a grant that is taken back, before its GPU is free. releasing: a process still has a node open.
 */
struct undo_recorder {
	void (*say)(void *ctx, bool releasing);
	void *ctx;
};

/*
 * Takes back the lease that this peer got for (root, id), and the record that its token is used ("": none). If another
 * process has a lease of that name by now, both stay. Undoes the changes; *tell records that.
 * - 0: the lease is removed.
 * - 1: a process still has a node open, and the lease is releasing until none has.
 * - -1 with *why: there is no such lease, or it could not be taken back. A lease that is only planned counts as over
 *   some seconds after the end of its helper's time.
 * tell NULL: nobody was told of the grant, and nothing was done for it, so that the lease is removed at once (1:
 * another helper is releasing it already).
 */
int leases_drop(const struct peer *peer, const char *root, const char *id, const char *used_token,
    const struct undo_recorder *tell, struct why *why);

/*
 * Releases a lease whose container is deleted but still in use: undoes its changes, and keeps it until it is over.
 * -1 with *why: it could not be written.
 */
int leases_release(struct leases *ls, struct lease *l, struct why *why);

#endif
