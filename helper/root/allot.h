/* GPUs for a request: what is free, what is kept for those who waited before, what it gets. */
#ifndef GPUHELPER_ROOT_ALLOT_H
#define GPUHELPER_ROOT_ALLOT_H

#include "../host/drivernodes.h"
#include "../pure/drained.h"
#include "../pure/identity.h"
#include "leaselist.h"
#include "queue.h"

/* A GPU that was allotted, and the rule that it was allotted by. */
struct allotted {
	const struct gpu *gpu;
	const struct gpu_rule *rule;
};

/* GPUs that someone has without a lease (strays.h): nobody gets them alone. */
struct stray {
	struct held_gpu gpu;
	pid_t pid;		/* a process that has it */
};

struct strays {
	struct stray *v;
	size_t n;
};

/* What is not to be had though no lease holds it. */
struct withheld {
	const struct strays *strays;
	const struct drained *drained;	/* out of service: by nobody */
};

/* Fills w->want with what the request wants.  -1 with *why. */
int allot_wants(const struct decision *d, struct waiter *w, struct why *why);

/* Those nodes of CDI devices that are a GPU's own are the lease's, as the GPU's nodes are.  -1 with *why. */
int allot_further(const struct driver_nodes *more, struct lease *l, struct why *why);

/*
 * The kernel goes by a GPU's node, and leases by its address: does another lease hold a node of one of these GPUs as
 * another GPU's?  *ls has the leases that these nodes concern.  -1 with *why.
 */
int allot_check_nodes(const struct leases *ls, const struct lease *l, const struct allotted *picks, struct why *why);

/* May who asks be told by name who holds a GPU?  Each of the same user, and of the same team where his is proven. */
bool allot_may_name(const struct lease *holder, uint32_t uid, const struct identity *who);

/*
 * Picks GPUs for what w wants, but for those withheld, and writes them into *l (gpu, node) and out[] (up
 * to max, in the same order).  -1 with *why; WHY_AGAIN, with the holders, as far as «who» may know them, and how
 * many wait before, where there are too few free ones; WHY_DENIED where too few are in service, however long it waits.
 */
int allot(const struct leases *ls, const struct queue *q, const struct withheld *no, const struct decision *d,
    const struct identity *who, struct lease *l, struct waiter *w, struct allotted *out, size_t max, struct why *why);

#endif
