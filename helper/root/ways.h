/*
 * Ways to granted folders, and to the driver's files.  A container that is the host's root and has a folder
 * for writing could have a path that leads through it end anywhere, between the
 * moment that the helper looks and the moment that the runtime mounts: no path is
 * granted that does, and no such folder while a path through it is being mounted.
 */
#ifndef GPUHELPER_ROOT_WAYS_H
#define GPUHELPER_ROOT_WAYS_H

#include "../host/mounts.h"
#include "../pure/idmap.h"
#include "leaselist.h"

/*
 * Writes the ways to the edits' folders into *l, by the mount table that these were found by, and whether its container
 * is the host's root.  -1 with *why.
 */
int ways_note(const struct edits *e, const struct mount_table *mounts, const struct idmap *uids, struct lease *l,
    struct why *why);

/*
 * Adds the ways to the edits' driver files and hooks to *l, after ways_note(): the
 * runtime goes these paths once more, too.  Under the lock and after the leases were
 * read, so that nobody moves what the look has found.  -1 with *why.
 */
int ways_note_driver(const struct edits *e, struct lease *l, struct why *why);

/*
 * What a lease of the host's root holds, everyone's folders are held against: nobody but root claims to be that.
 * After ways_note() and ways_note_driver(); uid asks.  -1 with *why.
 */
int ways_check_claim(const struct lease *l, uint32_t uid, struct why *why);

/* Under the lock.  -1 with *why (WHY_AGAIN), which names the holder to the same user only. */
int ways_admit(const struct leases *ls, const struct lease *l, struct why *why);

/* The container is made, its folders are mounted: only what it may write in as the host's root still matters. */
void ways_settle(struct lease *l);

#endif
