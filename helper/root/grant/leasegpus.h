/* What a lease has of the GPUs that were picked for it: the GPUs, and their own nodes. */
#ifndef GPUHELPER_ROOT_GRANT_LEASEGPUS_H
#define GPUHELPER_ROOT_GRANT_LEASEGPUS_H

#include "../../ask/pickquery.h"
#include "../../policy/grantedgpu.h"
#include "../lease/leaselist.h"
#include "../lease/queue.h"

/*
 * Gives the lease what gpuhelper-engine has picked for what w wants: n picks. out[], of GPUS_MAX, gets the same GPUs in
 * the same order. Believes no pick: -1 with *why (WHY_BUG) if it is none of the grant's, exceeds what is wanted, or is
 * held by others in a way that leaves no room.
 */
int lease_take_picks(const struct leases *ls, const struct decision *d, const struct queued *w,
    const struct pick *picks, size_t n, struct lease *l, struct granted_gpu *out, struct why *why);

/* Adds to the lease's nodes the extra nodes that belong to one GPU. -1 with *why: memory is short. */
int lease_add_extra(const struct extra_nodes *more, struct lease *l, struct why *why);

/*
 * Checks that no other lease holds a node of one of the picks as another GPU's. Leases name GPUs by address, but the
 * kernel knows them by their nodes. *ls must have the leases that concern these nodes. -1 with *why.
 */
int lease_check_nodes(const struct leases *ls, const struct lease *l, const struct granted_gpu *picks,
    struct why *why);

/*
 * Fills p->promised_gpu and out[] with all candidates, in the same order, for a promise. *n: room in out[], at least as
 * many as there are candidates; then their number. -1: memory is short.
 */
int lease_promise_all(const struct decision *d, const struct queued *w, struct lease_tasks *p,
    struct granted_gpu *out, size_t *n);

#endif
