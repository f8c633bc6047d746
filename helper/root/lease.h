/*
 * Leases: which container holds which GPU, kept in /run/gpuhelper/leases, a
 * file each.  A lease ends when root itself sees it over, never on anyone's word.
 * Who asks reads what concerns him, and no more: others can have thousands.
 */
#ifndef GPUHELPER_ROOT_LEASE_H
#define GPUHELPER_ROOT_LEASE_H

#include "../pure/leasename.h"
#include "peer.h"

/* One of the files that are there. */
struct lease_file {
	const char *text;	/* its name */
	struct lease_name name;	/* the same; of an old one uid is known once it was read */
	bool read, gone;
};

struct leases {
	int dir, lock, line;	/* the directory; the descriptors of the lock and of one's place in line, -1 while not held */
	struct strlist names;
	struct lease_file *file;	/* in the order of their names */
	size_t files;
	struct lease **v;	/* those that were read, and are there: they stay where they are while more are read */
	size_t n;
};

/*
 * Which leases someone has to know.  He gets at least these: what else he is given
 * says nothing of what else there is.
 */
struct concern {
	bool all;
	bool of_user;		/* all of «uid» */
	bool admits;		/* «uid» is to get another: if he has nearly as many as he may, all of his */
	uint32_t uid;
	const char *key;	/* one container's; NULL: none */
	const struct strlist *keys;	/* some more; NULL: none */
	unsigned flags;		/* any with one of them (leasename.h) */
	struct marks marks;	/* any that has one of these GPUs, or an act on one of these nodes */
};

/*
 * Takes the lock (waits 1.5 s at most; the helpers of one user wait in a line of
 * their own first, so that at most one of each user is in everybody's), and sees
 * which leases there are.  None is read.  leases_close() in either case.
 */
int leases_open(struct leases *ls, uint32_t uid, struct why *why);
/*
 * Reads those that concern, and were not read before.  A file among them that can't
 * be read, or whose name does not say what the lease does, refuses everything, for it
 * may hold a GPU.
 */
int leases_read(struct leases *ls, const struct concern *c, struct why *why);
/*
 * The same, and ends those that are over: what was done for them is undone, for
 * which all are read that did the same, and they are removed.  One that can't be
 * undone stays, marked over, and holds what it held.  «audit» is told of each before it
 * is removed; with -1 nothing is changed, those that are over are marked so.  Leases that concern nobody who asks
 * are ended by root's timer, which reads all.
 */
int leases_look(struct leases *ls, const struct concern *c, int audit, struct why *why);
void leases_close(struct leases *ls);

/* Refuses a second lease for the same container, and more (or more bytes) than one user may have. */
int leases_admit(const struct leases *ls, const struct lease *l, struct why *why);
/*
 * Writes a lease that was admitted down, or one that is there anew.  It does not
 * become one of ls->v.  It gets its name the first time: -1 with *why, too, if it
 * came to do more since than that says.
 */
int leases_write(const struct leases *ls, struct lease *l, struct why *why);
/*
 * The same for a lease that has come to say more than when it was admitted (nodes,
 * acts, the container's cgroup).  -1 with *why (WHY_AGAIN), too, where its user may
 * not have so many bytes: what is in the file stays.
 */
int leases_write_more(const struct leases *ls, struct lease *l, struct why *why);
/* Undoes what was done for it, and removes it with its exec record.  -1 with *why: it stays, with what is left. */
int leases_remove(struct leases *ls, struct lease *l, struct why *why);

/*
 * Takes back the lease that this peer was given for (root, id).  One of that
 * name that another process came to have stays.  What was done for it is undone;
 * who opened a node while he could keeps the lease until he has it open no more.
 */
int leases_drop(const struct peer *p, const char *root, const char *id, struct why *why);

/* The lease of this container, if it was read; NULL if there is none. */
struct lease *leases_find(const struct leases *ls, uint32_t uid, const char *root, const char *id);

/* Makes the lock that is held by whoever changes what the lease's container may open (pure/chore.h). */
int leases_make_gate_lock(const struct lease *l, struct why *why);

/*
 * Its caller is done with it, and it is in use: what was done to the host for it
 * is undone, and the lease is kept until it is over (draining).
 */
int leases_drain(struct leases *ls, struct lease *l, struct why *why);

#endif
