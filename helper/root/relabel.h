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

struct relabelling;

/*
 * Looks through the folders among the mounts that are to be labelled, with all that
 * is in them but for other mounts and device nodes, and changes nothing.  To be
 * called once the lease is written, and without the lock: it can take seconds, and
 * waits while another helper of the same user is at it.  -1 with *why: something
 * may not be labelled, or can't.  Where nothing is enforced, only for want of memory.
 * *out is then for relabel_change(), and the caller frees it; it refers to the arguments.
 * NULL: there is nothing to label.
 */
int relabel_look(const struct label *l, const struct peer *p, const struct edits *e, struct relabelling **out,
    struct why *why);

/* Labels them.  -1 with *why: what was labelled by then is. */
int relabel_change(struct relabelling *r, struct why *why);
void relabel_free(struct relabelling *r);

#endif
