/* Changes the list of drained GPUs (host/drainedlist.h), while nobody else does.  For root. */
#ifndef GPUHELPER_CTL_DRAINLIST_H
#define GPUHELPER_CTL_DRAINLIST_H

#include "../pure/drained.h"
#include "../pure/why.h"

struct drain_list {
	int dir;		/* of the state, locked until drain_list_close() */
	struct drained list;
};

/*
 * Locks and reads it.  «anew»: one that can't be read counts as empty.  -1 with *why; drain_list_close() in either
 * case.
 */
int drain_list_open(struct drain_list *d, bool anew, struct why *why);
void drain_list_close(struct drain_list *d);
/* The entry of just this GPU; NULL: there is none. */
struct drained_gpu *drain_list_find(const struct drain_list *d, const struct held_gpu *g);
/* A new entry, as of now; NULL with *why. */
struct drained_gpu *drain_list_add(struct drain_list *d, const struct held_gpu *g, struct why *why);
/* Puts it in the place of the old one.  -1 with *why, and nothing has changed. */
int drain_list_write(const struct drain_list *d, struct why *why);

#endif
