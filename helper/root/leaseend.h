/* How leases end: when root itself sees them over, never on anyone's word. */
#ifndef GPUHELPER_ROOT_LEASEEND_H
#define GPUHELPER_ROOT_LEASEEND_H

#include "leaselist.h"
#include "peer.h"

/*
 * Reads those that concern, and ends those that are over: what was done for them is undone, for
 * which all are read that did the same, and they are removed.  One that can't be
 * undone stays, marked over, and holds what it held.  «audit» is told of each before it
 * is removed; with -1 nothing is changed, those that are over are marked so.  Leases that concern nobody who asks
 * are ended by root's timer, which reads all.
 */
int leases_look(struct leases *ls, const struct concern *c, int audit, struct why *why);
/* Undoes what was done for it, and removes it with its exec record.  -1 with *why: it stays, with what is left. */
int leases_remove(struct leases *ls, struct lease *l, struct why *why);

/* Writes the record of a grant that is taken back, while its GPU is not free yet. */
struct undo_teller {
	void (*say)(void *ctx, bool draining);
	void *ctx;
};

/*
 * Takes back the lease that this peer was given for (root, id), and the binding of a token that came
 * with it ("" is none).  One of that name that another process came to have stays, and the binding with
 * it.  What was done for it is undone; who opened a node while he could keeps the lease until he has it
 * open no more: 1, it is draining.  *tell is NULL for one that nobody was told of, and nothing was done for: that goes
 * at once, unless another has it draining already (1).
 * -1 with *why where there is none, or it could not be taken back: one that is only planned is over some
 * seconds after its helper's time.
 */
int leases_drop(const struct peer *p, const char *root, const char *id, const char *binding,
    const struct undo_teller *tell, struct why *why);

/*
 * Its caller is done with it, and it is in use: what was done to the host for it
 * is undone, and the lease is kept until it is over (draining).
 */
int leases_drain(struct leases *ls, struct lease *l, struct why *why);

#endif
