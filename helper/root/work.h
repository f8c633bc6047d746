/*
 * One request for a grant on its way, as the files that serve it hand it on:
 * grant.c (who and whether), take.c (which GPUs, under the lock), back.c (again).
 */
#ifndef GPUHELPER_ROOT_WORK_H
#define GPUHELPER_ROOT_WORK_H

#include "../host/access.h"
#include "../host/drivernodes.h"
#include "../pure/identity.h"
#include "allot.h"
#include "label.h"
#include "leaselist.h"
#include "peer.h"
#include "relabel.h"
#include "strays.h"

#define GPUS_MAX 64

struct work {
	const struct peer *peer;
	const struct request *request;
	int audit;
	struct settings settings;
	struct policy_set policies;
	struct known known;
	struct decision decision;
	struct idmap uids, gids;		/* of the container, to ids of this host */
	struct subject subject;
	struct edits edits;
	struct label label;
	struct lease lease;
	size_t folder_ways;		/* of lease.way, the first: those to folders */
	bool look_first;		/* for strays: another GPU may be had */
	bool met_stray;			/* what was picked is not to be had */
	struct strays strays;
	struct drained drained;			/* GPUs out of service, as of when the lock was had */
	struct allotted picks[GPUS_MAX];	/* lease.gpus of them */
	struct strlist gpu_names;
	struct strlist specs;		/* CDI specs that the driver's files are by */
	struct driver_nodes more;	/* nodes of CDI devices that are no GPU's as such */
	bool unasked;			/* the container asks for nothing: not granting is no refusal */
	bool prepared;			/* the identity is known */
	size_t ahead;			/* in the queue */
	bool waits;			/* all GPUs are taken: it is to ask again */
	bool soon;			/* not for as long as its policy lets it wait: they could not be looked at */
	struct chores chores;		/* what is to be done before it asks again */
	bool judged;			/* the policies have been heard */
	struct relabelling *relabelling;
	struct why why;
};

void work_free(struct work *w);

/* The container's first process is to be a program that only pauses, by what root's settings name. */
bool work_has_placeholder(const struct work *w);

#endif
