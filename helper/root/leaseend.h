/* How leases end: when root itself sees that they are over, never because somebody says so. */
#ifndef GPUHELPER_ROOT_LEASEEND_H
#define GPUHELPER_ROOT_LEASEEND_H

#include "leaselist.h"
#include "peer.h"

/*
 * Reads the leases that concern, and ends those that are over: undoes their acts (for which it also reads all leases
 * with the same acts), writes a record of each to the log "audit", and removes them.  One that can't be undone stays,
 * marked over, and holds what it held.  With audit -1 nothing is changed, only marked.  Leases that concern no request
 * are ended by root's timer, which reads all.
 */
int leases_look(struct leases *ls, const struct concern *c, int audit, struct why *why);
/* Undoes the acts of a lease, and removes it with its exec record.  -1 with *why: it stays, with what is left. */
int leases_remove(struct leases *ls, struct lease *l, struct why *why);

/* Writes the record of a grant that is taken back, while its GPU is not free yet. */
struct undo_teller {
	void (*say)(void *ctx, bool draining);
	void *ctx;
};

/*
 * Takes back the lease that this peer got for (root, id), and the binding of its token ("": none).  If another process
 * has a lease of that name by now, both stay.  The acts are undone; 1: a process still has a node open, and the lease
 * drains until it has not.  *tell records the undoing; NULL: nobody was told of the grant, and nothing was done for it,
 * so that the lease is removed at once (1: another helper has it draining already).  -1 with *why: there is no such
 * lease, or it could not be taken back; one that is only planned is over some seconds after its helper's time.
 */
int leases_drop(const struct peer *p, const char *root, const char *id, const char *binding,
    const struct undo_teller *tell, struct why *why);

/*
 * Has a lease drain, whose container is deleted and still in use: undoes its acts, and keeps it until it is over.
 * -1 with *why: it could not be written.
 */
int leases_drain(struct leases *ls, struct lease *l, struct why *why);

#endif
