/*
 * Who waits for a GPU: /run/gpuhelper/queue, a file for each.  First come, first
 * served: what those before could take is not there for those behind.
 */
#ifndef GPUHELPER_ROOT_QUEUE_H
#define GPUHELPER_ROOT_QUEUE_H

#include "../pure/pick.h"
#include "../pure/text.h"
#include "peer.h"

/* A container that waits, by the key of the lease that it would get. */
struct waiter {
	char key[65];
	char *id, *pipeline;
	uint32_t uid;
	pid_t pid;		/* the process that asks, again and again */
	uint64_t start;
	uint64_t turn;		/* its place: nanoseconds since boot at which it came */
	uint64_t renewed;	/* milliseconds since boot at which it asked last */
	int64_t since;		/* seconds since 1970, for people */
	unsigned wait;		/* seconds that it may wait */
	struct pick_want *want;	/* candidates owned */
	size_t wants;
};

struct queue {
	int dir;
	struct waiter *v;	/* first come first */
	size_t n;
};

/*
 * Reads the queue, and puts out of it whoever has not asked for 2 s, has waited
 * longer than he may, or whose process is gone.  Under the lock of the leases.  queue_close() in either case.
 */
int queue_open(struct queue *q, struct why *why);
void queue_close(struct queue *q);
#define autoqueue __attribute__((cleanup(queue_close)))

/* Its place: how many are before the waiter of this key; all, if it is not in the queue yet. */
size_t queue_place(const struct queue *q, const char *key);

/* Seconds for which the waiter of this key has waited; 0 if it is not in the queue yet. */
unsigned queue_waited(const struct queue *q, const char *key);

/*
 * Keeps or takes a place for w (its turn and renewed are filled here).  -1 with
 * *why where too many of one user wait, or of all.
 */
int queue_stay(struct queue *q, struct waiter *w, struct why *why);

/*
 * Says that the waiter of this key still asks, without the lock: who has to wait
 * for that does not lose its place meanwhile.  No place is no error.
 */
void queue_renew(const char *key);

/* Gives a place up; none is no error. */
void queue_leave(const struct queue *q, const char *key);

void waiter_free(struct waiter *w);
#define autowaiter __attribute__((cleanup(waiter_free)))

#endif
