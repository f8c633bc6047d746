/* The verbs: what is asked for, judged, done, written down and answered. */
#ifndef GPUHELPER_ROOT_GRANT_H
#define GPUHELPER_ROOT_GRANT_H

#include "../pure/edits.h"
#include "../pure/leasefile.h"
#include "../pure/request.h"
#include "peer.h"

/* What a grant left on the host, which is taken back where it fails. */
struct traces {
	char lease[LEASE_KEY_SIZE];		/* key of its lease; "" if there is none */
	char binding[65];	/* name of its token's new binding; "" if there is none */
};

/*
 * Judges a request and does what follows from it.  *reply is always filled; a
 * grant is then provisional: grant_undo() takes it back if the wrapper never
 * makes it final.
 */
void grant(const struct peer *p, const struct request *r, struct reply *reply, struct traces *t);
void grant_undo(const struct peer *p, const struct request *r, const struct traces *t);

/*
 * The runtime that the peer had started has made the container: sees which
 * process is its first one, and which cgroups are its own, and writes that into
 * its lease.  Refused where there is no lease of the peer's own for it, or the
 * process can't be told: then the container must not run.
 */
void created(const struct peer *p, const struct request *r, struct reply *reply);

/*
 * The peer becomes a runtime that puts a process into the container.  Where its
 * GPUs were given back they are had again, if they may be; the reply's line says
 * how things stand.
 */
void exec_begins(const struct peer *p, const struct request *r, struct reply *reply);

/* Sees which leases are over, and ends them; and, for root, those whose container's task is over. */
void look(const struct peer *p, const struct request *r, struct reply *reply);

/*
 * look(), but a user at this container alone; and if it is in use all the same,
 * takes its rights back: it is draining.
 */
void release(const struct peer *p, const struct request *r, struct reply *reply);

/* look(); and does again what something has undone of the acts of live leases: of its own, root of all. */
void reapply(const struct peer *p, struct reply *reply);

/* Who holds what, and who waits: a caller sees its own, root all.  Changes nothing. */
void status(const struct peer *p, struct reply *reply);

/* Writes down what the wrapper did by itself: refused a container, or made a plain one. */
void note(const struct peer *p, const struct request *r, struct reply *reply);

#endif
