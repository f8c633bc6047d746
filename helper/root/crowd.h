/* How many helpers of one user there are at a time, whichever door they came by. */
#ifndef GPUHELPER_ROOT_CROWD_H
#define GPUHELPER_ROOT_CROWD_H

#include <stdbool.h>
#include <sys/types.h>

#include "../pure/why.h"

#define CROWD_MAX 16	/* gpuhelper.socket: MaxConnectionsPerSource= */

/*
 * Takes one of the user's places, which this process then has until it ends, however
 * it does.  1: all are taken; it is to end without an answer, as systemd closes
 * connections that are too many, and gpuhelper-runc asks again.  -1 with *why: none can
 * be had, so that he can't be counted, and is not to be heard.  For the socket:
 * systemd counts users from version 256 on; before, the connections of one could be
 * all that it takes from anyone.  For the setuid bit: RLIMIT_NPROC counts what is the
 * caller's, and a helper is root's.  Root is not counted.
 */
int crowd_enter(uid_t uid, struct why *why);

/*
 * True if this process may live on for as long as the runtime needs to make a container: at most half of the user's
 * places are taken by such processes. Root has as many.
 */
bool crowd_may_stay(uid_t uid);

/*
 * The descriptor of that place; -1: there is none.  Who has a copy of it keeps the place, too: so a process of this
 * one's that can't be ended counts as its user's (spawn.h).
 */
int crowd_place(void);

#endif
