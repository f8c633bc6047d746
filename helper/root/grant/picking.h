/* Picks GPUs for a plan, under the lock on the leases, and writes the plan's lease. */
#ifndef GPUHELPER_ROOT_GRANT_PICKING_H
#define GPUHELPER_ROOT_GRANT_PICKING_H

#include "../end/idle.h"
#include "plan.h"
#include "refusal.h"

/*
 * Picks the GPUs, plans what follows from them (plangpus.h), and writes the lease. Does nothing for it on the host yet.
 * Fills key[] with the lease's key, and leaves it empty if no lease is left to undo. With scan_first, it finds GPUs
 * that are open without a lease (gpuopeners.h) first, and does not pick them. Without it, the look comes after the
 * pick, which is cheaper where nobody has a GPU open: it fails with f->met_opener if a picked GPU is. Where
 * late_scan_may() allows that, the look is left for later (latescan.h). -1 with *f.
 */
int pick_and_write_lease(struct plan *p, bool scan_first, char key[LEASE_KEY_SIZE], struct refusal *f);

/* What is open under the lock. Begins as PICKING. picking_end() releases all of it, the lock last. */
struct picking {
	struct leases leases;
	struct queue queue;
	struct queued me;		/* this request, as one that may have to wait */
};
#define PICKING { .leases = LEASES_CLOSED, .queue = { .dir = -1 } }

/*
 * After leases_lock(): reads the queue, and the leases that concern the plan (leases_for_request(), with «new_lease»),
 * and ends those that are over. -1 with *why. picking_end() closes all of it in either case, and releases the lock.
 */
int picking_read(struct picking *k, const struct plan *p, bool new_lease, struct why *why);
void picking_end(struct picking *k);
#define autopicking __attribute__((cleanup(picking_end)))

/*
 * Picks GPUs, and fills in the plan's picks, and the lease's GPUs and nodes. openers: GPUs that are open elsewhere,
 * and that nobody may get exclusively; or NULL. -1 with *f. If too few are free, it begins to take GPUs back from idle
 * containers (idle.h), and gives a request that may wait a position in the queue; f->retry: whether it may ask again.
 */
int pick_or_queue(struct plan *p, struct picking *k, const struct gpu_openers *openers, struct refusal *f);

/*
 * For a request whose GPUs could not be looked at in time (f->why), or what comes with them not found out: on a busy
 * machine the next try may succeed, for a request that may wait. Always -1.
 */
int refuse_scan_failed(const struct plan *p, struct refusal *f);

/*
 * After the lease is written: checks that no container has a GPU open that the lease has exclusively. From then on, no
 * container that held the GPU by a lease can pass it on. Takes long: must not be called under the lock. -1 with *f.
 */
int check_exclusive(const struct plan *p, struct refusal *f);

#endif
