/*
 * Leases: which container holds which GPU, kept in /run/gpuhelper/leases, a
 * file each.  A lease ends when root itself sees it over, never on anyone's word.
 */
#ifndef GPUHELPER_ROOT_LEASE_H
#define GPUHELPER_ROOT_LEASE_H

#include "../pure/leasefile.h"
#include "peer.h"

struct leases {
	int dir, lock, line;	/* the directory; the descriptors of the lock and of one's place in line, -1 while not held */
	struct lease *v;	/* the live ones */
	size_t n;
};

/* Told of each lease that was found over, before it is removed. */
typedef void lease_ended(void *ctx, const struct lease *l);

/*
 * Takes the lock (waits 1.5 s at most; the helpers of one user wait in a line of
 * their own first, so that at most one of each user is in everybody's), reads all leases and ends those that are
 * over: what was done for them is undone, and they are removed.  One that can't
 * be undone stays, marked over, and holds what it held.  A lease file that can't
 * be read refuses everything, for it may hold a GPU.  With «ended» NULL nothing
 * is changed, those that are over are marked so.  leases_close() in either case.
 */
int leases_open(struct leases *ls, uint32_t uid, lease_ended *ended, void *ctx, struct why *why);
/* The same lock and the same leases, whether they are over or not: for who only needs his own.  leases_close(). */
int leases_read(struct leases *ls, uint32_t uid, struct why *why);
void leases_close(struct leases *ls);

/* Refuses a second lease for the same container, and more than one user may have. */
int leases_admit(const struct leases *ls, const struct lease *l, struct why *why);
/* Writes a lease that was admitted down, or one that is there anew.  It does not become one of ls->v. */
int leases_write(const struct leases *ls, const struct lease *l, struct why *why);
/* Undoes what was done for it, and removes it with its exec record.  -1 with *why: it stays, with what is left. */
int leases_remove(const struct leases *ls, struct lease *l, struct why *why);

/*
 * Takes back the lease that this peer was given for (root, id).  One of that
 * name that another process came to have stays.  What was done for it is undone;
 * who opened a node while he could keeps the lease until he has it open no more.
 */
int leases_drop(const struct peer *p, const char *root, const char *id, struct why *why);

/* The lease of this container; NULL if there is none. */
struct lease *leases_find(const struct leases *ls, uint32_t uid, const char *root, const char *id);

/* Makes the lock that is held by whoever changes what the lease's container may open (pure/chore.h). */
int leases_make_gate_lock(const struct lease *l, struct why *why);

/*
 * Its caller is done with it, and it is in use: what was done to the host for it
 * is undone, and the lease is kept until it is over (draining).
 */
int leases_drain(const struct leases *ls, struct lease *l, struct why *why);

/* The key of (uid, root, id). */
void lease_key(uint32_t uid, const char *root, const char *id, char out[65]);

#endif
