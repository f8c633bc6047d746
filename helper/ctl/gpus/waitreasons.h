/*
 * Why a container waits for a GPU, and why at its position: the texts that «status» and «explain» have of it.  Judges
 * by the helper's own list, whose order is that of the queue (root/lease/queue.h).
 */
#ifndef GPUHELPER_CTL_GPUS_WAITREASONS_H
#define GPUHELPER_CTL_GPUS_WAITREASONS_H

#include <jansson.h>

#include "../../policy/policyset.h"

/* All are borrowed. */
struct wait_view {
	const json_t *leases, *waiters;		/* as in «status --json» */
	const struct policy_set *policies;	/* for their max_gpus; empty: these are not known */
	bool all;				/* the leases are those of all users: root asked for them */
};

/*
 * The reasons as a new array of texts: what the containers of its policy hold, if it lets them hold no more, and who
 * goes before it.  «waiter» has the members of a waiter in «status --json», as far as the caller knows them; those
 * before it are the first «ahead» of the list.
 */
json_t *wait_reasons(const struct wait_view *v, const json_t *waiter, size_t ahead);

/*
 * The same for a container that would come now, without «since» and «ahead».  Sets *ahead to the number of those
 * that wait and would go before it; if teams have shares, those of other teams with its priority do not count, but a
 * text names them.
 */
json_t *wait_reasons_of_new(const struct wait_view *v, const json_t *waiter, bool shares, size_t *ahead);

/* Adds «why» to each waiter of the list. */
void wait_reasons_put(const struct wait_view *v);

#endif
