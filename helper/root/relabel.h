/*
 * Folders that a policy has labelled for containers: «relabel» of
 * gpuhelper-policy(5).
 *
 * This is no act of a lease, and nothing is kept that could undo it: a label that
 * a folder was given is its label from then on, as with an engine's :z and :Z.  What
 * was stopped half-way is finished for the next container, since every entry is
 * looked at each time; and while two could be at it, with different labels, the
 * lease of the first keeps the second out (held_folders_meet()).
 */
#ifndef GPUHELPER_ROOT_RELABEL_H
#define GPUHELPER_ROOT_RELABEL_H

#include "label.h"
#include "peer.h"

/*
 * Labels the folders among the mounts that are to be, with all that is in them
 * but for other mounts and device nodes.  To be called once the lease is written,
 * and without the lock: it can take seconds.  -1 with *why: nothing was changed
 * where that could be seen before; else what was is told of.  Where nothing is
 * enforced it never fails.
 */
int relabel_folders(const struct label *l, const struct peer *p, const struct edits *e, struct why *why);

#endif
