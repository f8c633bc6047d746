/* Decides which GPUs a request gets: free ones, except those that are reserved for earlier requests. */
#ifndef GPUHELPER_ROOT_GRANT_ALLOT_H
#define GPUHELPER_ROOT_GRANT_ALLOT_H

#include "../../policy/driverwant.h"
#include "allotstate.h"

/* A GPU that a request gets, and the policy's rule that allows it. */
struct allotted {
	const struct gpu *gpu;
	const struct gpu_rule *rule;
};

/* Fills w->want with the GPUs that the decision allows. -1 with *why: memory is short. */
int allot_fill_wants(const struct decision *d, struct queued *w, struct why *why);

/* Adds to the lease's nodes the extra nodes that belong to one GPU. -1 with *why: memory is short. */
int allot_extra(const struct driver_nodes *more, struct lease *l, struct why *why);

/*
 * Checks that no other lease holds a node of one of the picks as another GPU's. Leases name GPUs by address, but the
 * kernel knows them by their nodes. *ls must have the leases that concern these nodes. -1 with *why.
 */
int allot_check_nodes(const struct leases *ls, const struct lease *l, const struct allotted *picks, struct why *why);

/*
 * Fills p->may and out[] with all candidates, in the same order, for a promise. *n: room in out[], at least as many as
 * there are candidates; then their number. -1: memory is short.
 */
int allot_all(const struct decision *d, const struct queued *w, struct lease_tasks *p, struct allotted *out, size_t *n);

/* True if max_gpus of the waiter's policy allows what it wants beside what the policy's containers hold by *ls. */
bool allot_in_quota(const struct leases *ls, const struct queued *w);

/*
 * Picks GPUs for what w wants, except those open without a lease and drained ones, and writes them into *l (gpu, node)
 * and out[] (at most max, in the same order). -1 with *why: WHY_AGAIN if too few are free, naming the holders that
 * s->who may know and the number of earlier waiters; WHY_DENIED if too few are in service, so that no wait would help.
 */
int allot(const struct allot_state *s, struct lease *l, const struct queued *w, struct allotted *out, size_t max,
    struct why *why);

#endif
