/* Picks GPUs for a plan, under the lock of the leases, and writes it down as a lease. */
#ifndef GPUHELPER_ROOT_TAKE_H
#define GPUHELPER_ROOT_TAKE_H

#include "idle.h"
#include "plan.h"
#include "refusal.h"

/*
 * Picks the GPUs, plans what follows from them (plangpus.h), and writes the lease; nothing is done to the host yet.
 * Fills key[] with the lease's key; it stays empty where there is no lease.  With look_first, GPUs that are open in a
 * container without a lease of them are not picked; without it such a pick fails, with f->met_stray, which is cheaper
 * where there is none.  -1 with *f.
 */
int take_lease(struct plan *p, bool look_first, char key[LEASE_KEY_SIZE], struct refusal *f);

/* What is there under the lock.  Its initialiser is PICKING; picking_end() undoes all, the lock last. */
struct picking {
	struct leases leases;
	struct queue queue;
	struct waiter me;		/* the request itself, as one that may have to wait */
};
#define PICKING { .leases = LEASES_CLOSED, .queue = { .dir = -1 } }

/*
 * When the leases are open: opens the queue, and reads the leases that concern the plan (concern_look(), with
 * «admits»). -1 with *why.
 */
int picking_begin(struct picking *k, const struct plan *p, bool admits, struct why *why);
void picking_end(struct picking *k);
#define autopicking __attribute__((cleanup(picking_end)))

/*
 * Picks the GPUs alone: into the plan's picks, and the lease's GPUs and nodes.  strays: GPUs that are not to be had, or
 * NULL.  -1 with *f: there are too few, where f->waits is true the request has a place in the queue.
 */
int take_free_gpus(struct plan *p, struct picking *k, const struct strays *strays, struct refusal *f);

/*
 * Once the lease is written: sees that no container has one of those picks open that the lease has for itself alone.
 * From then on, nobody who had it by a lease can pass it on.  Takes its time, so not under the lock.  -1 with *f.
 */
int check_alone(const struct plan *p, struct refusal *f);

#endif
