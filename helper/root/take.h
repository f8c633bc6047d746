/* GPUs for a request that was judged: found free, written down, and opened to the container. */
#ifndef GPUHELPER_ROOT_TAKE_H
#define GPUHELPER_ROOT_TAKE_H

#include "idle.h"
#include "work.h"

/*
 * Picks GPUs, plans what has to be done to their nodes, and writes all of it down
 * as a lease; nothing is done yet.  key[] is then its key, and empty where there is none.
 * -1 with w->why; with w->waits it is to ask again, after w->chores.
 */
int take_lease(struct work *w, char key[LEASE_KEY_SIZE]);

/*
 * The steps of that, for one that has a lease already: w->lease, which is neither
 * admitted nor written anew.  Under the lock.
 */
int pick_gpus_again(struct work *w, const struct idle *idle, struct queue *q, struct waiter *me);
/* Nodes of CDI devices beside the GPUs', once these are picked: into w->more, and what is a GPU's own into w->lease. */
int take_further(struct work *w);
int plan_nodes(struct work *w, struct leases *ls);

/*
 * No process of a container has any of w->picks open that w->lease has alone.
 * Once that is written down, nobody who had one by a lease of his own can pass
 * it on.  -1 with w->why, and w->waits where the policy lets it wait.
 */
int check_alone(struct work *w);

/* The GPUs of w->lease by their names, for the audit log, into w->gpu_names. */
int name_gpus(struct work *w);

/*
 * Under the lock again: is the lease there as it was planned?  -1 with w->why: who saw it over meanwhile has ended it,
 * and its GPU may be another's.
 */
int check_planned(struct work *w, struct leases *ls);

/*
 * Does what the lease says.  To be called once the grant is in the audit log.  -1
 * with w->why: it is to be taken back.
 */
int open_nodes(struct work *w);
/* The same, under the lock already. */
int open_planned(struct work *w, struct leases *ls);

#endif
