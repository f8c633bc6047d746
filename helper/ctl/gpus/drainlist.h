/* Changes the list of drained GPUs (host/gpu/drainedlist.h) under a lock.  For root. */
#ifndef GPUHELPER_CTL_GPUS_DRAINLIST_H
#define GPUHELPER_CTL_GPUS_DRAINLIST_H

#include "../../base/why.h"
#include "../../gpu/drained.h"

struct drain_list {
	int dir;		/* GPUHELPER_STATEDIR, locked until drain_list_close() */
	struct drained list;
};

/*
 * Locks and reads the list.  «anew»: a broken list counts as empty.  -1 with *why.  The caller calls drain_list_close()
 * in any case.
 */
int drain_list_open(struct drain_list *d, bool anew, struct why *why);
void drain_list_close(struct drain_list *d);
/* The entry of exactly this GPU, or NULL. */
struct drained_gpu *drain_list_find(const struct drain_list *d, const struct leased_gpu *g);
/* Adds an entry with the current time; NULL with *why. */
struct drained_gpu *drain_list_add(struct drain_list *d, const struct leased_gpu *g, struct why *why);
/* Replaces the list's file.  -1 with *why; then nothing has changed. */
int drain_list_write(const struct drain_list *d, struct why *why);

#endif
