/* Which GPUs a request gets: of those that are free, and not kept for requests that came before. */
#ifndef GPUHELPER_ROOT_ALLOT_H
#define GPUHELPER_ROOT_ALLOT_H

#include "../host/drivernodes.h"
#include "../pure/drained.h"
#include "../pure/identity.h"
#include "leaselist.h"
#include "queue.h"

/* A GPU that a request gets, and the rule of the policy that gives it. */
struct allotted {
	const struct gpu *gpu;
	const struct gpu_rule *rule;
};

/* A GPU that a process has open without a lease (strays.h): nobody gets it for himself alone. */
struct stray {
	struct held_gpu gpu;
	pid_t pid;		/* that process */
};

struct strays {
	struct stray *v;
	size_t n;
};

/* GPUs that nobody gets although no lease holds them. */
struct withheld {
	const struct strays *strays;
	const struct drained *drained;	/* out of service */
};

/* Fills w->want with the GPUs that the decision allows.  -1 with *why: no memory. */
int allot_wants(const struct decision *d, struct waiter *w, struct why *why);

/* Adds those of the further nodes that are one GPU's own to the lease's nodes.  -1 with *why: no memory. */
int allot_further(const struct driver_nodes *more, struct lease *l, struct why *why);

/*
 * Leases name GPUs by their addresses, but the kernel knows them by their nodes: does another lease hold a node of one
 * of the picks as another GPU's?  *ls has to have the leases that these nodes concern.  -1 with *why.
 */
int allot_check_nodes(const struct leases *ls, const struct lease *l, const struct allotted *picks, struct why *why);

/*
 * May a request of this user and identity be told which container holds a GPU?  Only of the same user's containers; and
 * where a token proves its team, only of that team's.
 */
bool allot_may_name(const struct lease *holder, uint32_t uid, const struct identity *who);

/*
 * Picks GPUs for what w wants, other than those withheld, and writes them into *l (gpu, node) and out[] (up to max, in
 * the same order).  -1 with *why: WHY_AGAIN where too few are free, which names the holders as far as "who" may know
 * them, and how many wait before; WHY_DENIED where too few are in service for any wait to help.
 */
int allot(const struct leases *ls, const struct queue *q, const struct withheld *no, const struct decision *d,
    const struct identity *who, struct lease *l, struct waiter *w, struct allotted *out, size_t max, struct why *why);

#endif
