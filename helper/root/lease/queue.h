/*
 * The queue for GPUs: /run/gpuhelper/queue, with a file for each waiting container. Those that have waited for half of
 * max_wait go first, then those of a higher priority, then those whose team has used least for its share
 * (teamshares.h), then those that came earlier. A request gets no GPU that is reserved for one before it. reserve_for()
 * in engine/allocate.c reserves them, even if they do not suffice for that request. Of these, a later request may
 * still get some if it asks for the last time, and its user holds no GPU that a request before it demands.
 */
#ifndef GPUHELPER_ROOT_LEASE_QUEUE_H
#define GPUHELPER_ROOT_LEASE_QUEUE_H

#include "../../base/text.h"
#include "../../lease/leasefile.h"
#include "../enter/peer.h"

/* A waiting container, by the key of the lease that it would get. */
struct queued {
	char key[LEASE_KEY_SIZE];
	char *id, *pipeline;
	char *policy;			/* that gives it the GPU */
	unsigned max_gpus;		/* that all containers of the policy hold at once; 0: any number */
	unsigned priority;		/* the higher goes first */
	unsigned urgent_after;		/* seconds after which it goes before all priorities */
	uint64_t share_used;		/* what its team has used for its share (usage.h; not in the file) */
	bool urgent;			/* it has waited so long (not in the file) */
	uint32_t uid;
	struct process_id asker;	/* the process that asks repeatedly */
	struct process_id task;		/* the process in the container that waits; pid 0: the container's create waits */
	uint64_t arrived;		/* nanoseconds since boot when it came */
	uint64_t renewed;	/* milliseconds since boot when it last asked */
	int64_t since;		/* seconds since 1970, for people */
	unsigned wait;		/* seconds that it may wait */
	struct gpu_demand *demand;	/* the candidates are owned */
	size_t demands;
};

struct queue {
	int dir;
	struct queued *v;	/* in order: the urgent first, then by priority, by what their teams have used, and by arrival */
	size_t n;
};

/*
 * Reads the queue, under the lock on the leases. Removes a request whose process is gone; one that was silent for
 * SILENCE_MS (root's) or POLLED_MS (others'), or, a create, for WOKEN_MS after it was woken; and one that has waited
 * longer than it may. Of root's, the log «audit» gets a record. With audit -1, leaves their files in place. -1 with
 * *why. queue_close() in either case.
 */
int queue_open(struct queue *q, int audit, struct why *why);
void queue_close(struct queue *q);
#define autoqueue __attribute__((cleanup(queue_close)))

/* The number of requests before the one with this key; the number of all if it is not in the queue. */
size_t queue_position(const struct queue *q, const char *key);
/* The same for this request; if it is not in the queue, for the position that it would get. */
size_t queue_before(const struct queue *q, const struct queued *w);

/* Sorts the requests again, after share_used has changed. */
void queue_sort(struct queue *q);

/* Seconds that the request with this key has waited; 0 if it is not in the queue. */
unsigned queue_waited(const struct queue *q, const char *key);

/*
 * Gives w a position or keeps its position, and fills in w->arrived and w->since. -1 with *why: also (WHY_AGAIN) if too
 * many wait, of this user or of all, or as many by w->policy as its max_waiting says (0: any number).
 */
int queue_stay(struct queue *q, struct queued *w, unsigned max_waiting, struct why *why);

/*
 * Notes that the request with this key is renewed. Needs no lock, so that it keeps its position while it waits for the
 * lock. No position is no error.
 */
void queue_touch(const char *key);

/*
 * Gives up the position of one whose waiting task has ended, with a record in the log «audit». No position is no error.
 */
void queue_abandon(struct queue *q, const char *key, int audit);

/*
 * Notes that a lease has changed, by the time of the leases' directory: those who wait are woken by the change. A
 * create that does not ask within 5 s then is frozen, and would keep the GPU from the others.
 */
void queue_note_change(int leases);

/* Gives up the position. No position is no error. */
void queue_leave(const struct queue *q, const char *key);

/* Frees what *w owns. */
void queued_free(struct queued *w);
#define autoqueued __attribute__((cleanup(queued_free)))

#endif
