/*
 * Time limits on which two programs or two files rely, and how they must be ordered. A limit that matters to one file
 * alone is in that file. How long a helper runs is explained in root/self/timer.h.
 */
#ifndef GPUHELPER_BASE_TIMES_H
#define GPUHELPER_BASE_TIMES_H

/*
 * How long a helper runs at most: for a user, and for root. A user's wrapper waits longer than the helper runs: the
 * helper's end closes the connection.
 */
#define RUN_MAX_S 30
#define RUN_MAX_OF_ROOTS_S 300
#define REPLY_MS 35000
_Static_assert(REPLY_MS > RUN_MAX_S * 1000, "the wrapper outlives a helper that does not answer");

/* How long gpuhelper-read, gpuhelper-judge and gpuhelper-engine wait for a question. */
#define CHILD_IDLE_MS 600000
_Static_assert(CHILD_IDLE_MS > RUN_MAX_OF_ROOTS_S * 1000, "a program that serves the helper outlives it");

/* How long the helper waits for a request, and how old a connection may be on which the wrapper still asks. */
#define READ_MS 2000
#define UNUSED_MS 1000
_Static_assert(UNUSED_MS < READ_MS, "the wrapper does not ask where the helper no longer listens");

/* How long a process may take to give a GPU back, and how long others wait for the lock that it holds meanwhile. */
#define REVOKING_MS 10000
#define DEVICE_LOCK_MS 12000
/* For the runtime to start the waiter of a task that asked before that: so long, nobody has the GPU. */
#define WAITER_MS 5000
_Static_assert(WAITER_MS < REVOKING_MS, "the wait for a waiter alone does not make its taking count as abandoned");
_Static_assert(DEVICE_LOCK_MS > REVOKING_MS, "whoever waits for an operation sees it end");

/*
 * LOCK_WAIT_MS: how long a helper waits for the lock on the leases, or for a lock of its user. LOCK_AGAIN_MS: the same
 * for a helper that has a lease; by then, most helpers ahead have finished. ALL_SCANS_MS: how long all its scans under
 * the lock may take.
 */
#define LOCK_WAIT_MS 1500
#define LOCK_AGAIN_MS 4000
#define ALL_SCANS_MS 700
_Static_assert(ALL_SCANS_MS < LOCK_WAIT_MS, "a helper's looks do not cost others the lock");

/* How long a helper that holds the lock waits for gpuhelper-engine. Who can't have the lock meanwhile asks again. */
#define ENGINE_MS 3000
_Static_assert(ENGINE_MS < RUN_MAX_S * 1000 / 4, "a silent gpuhelper-engine costs little of a helper's life");

/*
 * A request that waits loses its position in the queue after a silence: SILENCE_MS for root's, WOKEN_MS for a create
 * that the last change woke, POLLED_MS for others, which nothing wakes. The *_MS_MAX say how long it waits before it
 * asks.
 */
#define SILENCE_MS 180000
#define ASK_MS_MAX 80000
#define WOKEN_MS 5000
#define WAKING_MS_MAX 1000
#define POLLED_MS 2000
#define POLL_MS_MAX 1000
_Static_assert(2 * ASK_MS_MAX < SILENCE_MS, "a request may miss once");
_Static_assert(2 * WAKING_MS_MAX < WOKEN_MS, "a request that was woken keeps its place");
_Static_assert(POLL_MS_MAX < POLLED_MS && LOCK_WAIT_MS < POLLED_MS, "a request that polls keeps its place");

/*
 * How long root looks who has a GPU open, which takes milliseconds, or a few seconds with thousands of processes; and
 * how long the wrapper waits for a helper that does so beside the runtime.
 */
#define OPENERS_MS 8000
#define SEEN_MS 14000
_Static_assert(SEEN_MS > OPENERS_MS + 2 * LOCK_WAIT_MS, "the wrapper waits for a helper that looks, and notes it");

/* How long root looks at folders' labels, and changes them. */
#define LABEL_WALK_MS 3000
#define LABEL_CHANGE_MS 6000
_Static_assert(LABEL_WALK_MS + LABEL_CHANGE_MS < RUN_MAX_S * 1000 / 2, "labels take less than half of a helper's life");

#endif
