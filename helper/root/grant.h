/* The verbs: what is asked for, judged, done, written down and answered. */
#ifndef GPUHELPER_ROOT_GRANT_H
#define GPUHELPER_ROOT_GRANT_H

#include "../pure/edits.h"
#include "../pure/request.h"
#include "peer.h"

/*
 * Judges a request and does what follows from it.  *reply is always filled; a
 * grant is then provisional: its lease stands under *key, and grant_undo() takes
 * it back if the wrapper never makes it final.
 */
void grant(const struct peer *p, const struct request *r, struct reply *reply, char key[65]);
void grant_undo(const struct peer *p, const struct request *r, const char *key);

/* Sees which leases are over. */
void look(const struct peer *p, const struct request *r, struct reply *reply);

/* Writes down what the wrapper did by itself: refused a container, or made a plain one. */
void note(const struct peer *p, const struct request *r, struct reply *reply);

#endif
