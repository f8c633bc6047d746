/*
 * Relabels folders for containers, as «relabel» in a policy says (gpuhelper-policy(5)).
 *
 * This is not a change of a lease, and nothing is kept to undo it: a folder's new label stays, as with an engine's :z
 * and :Z. If relabelling is stopped half-way, the next container's grant finishes it, because every entry is checked
 * each time. If two containers would give a folder different labels, the lease of the first keeps the second out
 * (leased_folders_overlap()).
 */
#ifndef GPUHELPER_ROOT_NODE_ASKRELABEL_H
#define GPUHELPER_ROOT_NODE_ASKRELABEL_H

#include "../../ask/labelquery.h"
#include "../enter/peer.h"
#include "label.h"

/* Begins as ASK_RELABEL(); refers to these three. */
struct ask_relabel {
	const struct label *label;
	const struct peer *peer;
	const struct edits *edits;
	uint32_t wrong[LABEL_FOLDERS_MAX];	/* of each folder in turn: how many entries are to be labelled */
	int64_t begun;		/* clock_ms() of the start; 0: there is nothing to label */
	bool failed;		/* ask_relabel_walk() failed; if SELinux is permissive, nothing is labelled then */
	int user_lock;		/* a lock of the user's; -1: none */
};
#define ASK_RELABEL(l, p, e) { .label = (l), .peer = (p), .edits = (e), .user_lock = -1 }

/*
 * Checks the folders among the mounts that are to be labelled, with all that is in them except other mounts and
 * device nodes. Changes nothing. To be called after the lease is written, and without the lock: it can take seconds,
 * and waits while another helper of the same user does the same. -1 with *why: something may not be labelled, or
 * can't be. Always 0 if SELinux is permissive or absent.
 */
int ask_relabel_walk(struct ask_relabel *r, struct why *why);

/* Labels them. -1 with *why: what was labelled by then stays labelled. */
int ask_relabel_change(struct ask_relabel *r, struct why *why);

/* Releases the user's lock. */
void ask_relabel_end(struct ask_relabel *r);
#define autoask_relabel __attribute__((cleanup(ask_relabel_end)))

#endif
