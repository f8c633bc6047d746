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

#include "../pure/labelask.h"
#include "label.h"
#include "peer.h"

/* Begins as RELABELLING(); refers to these three. */
struct relabelling {
	const struct label *label;
	const struct peer *peer;
	const struct edits *edits;
	uint32_t wrong[LABEL_FOLDERS_MAX];	/* how many entries are to be labelled, of the first folder, the second, ... */
	int64_t begun;		/* clock_ms(); 0: there is nothing to label */
	bool failed;		/* relabel_look() did; where SELinux is permissive, nothing is labelled then */
	int line;		/* a lock of the user's own; -1: none */
};
#define RELABELLING(l, p, e) { .label = (l), .peer = (p), .edits = (e), .line = -1 }

/*
 * Looks through the folders among the mounts that are to be labelled, with all that is in them but other mounts and
 * device nodes, and changes nothing.  To be called once the lease is written, and without the lock: it can take
 * seconds, and waits while another helper of the same user does the same.  -1 with *why: something may not be
 * labelled, or can't; never where SELinux is permissive or absent.
 */
int relabel_look(struct relabelling *r, struct why *why);

/* Labels them.  -1 with *why: what was labelled by then stays so. */
int relabel_change(struct relabelling *r, struct why *why);

void relabel_end(struct relabelling *r);
#define autorelabelling __attribute__((cleanup(relabel_end)))

#endif
