/* Limits how many helpers one user has at a time, whether by the socket or by the setuid bit. */
#ifndef GPUHELPER_ROOT_SELF_CROWD_H
#define GPUHELPER_ROOT_SELF_CROWD_H

#include <stdbool.h>
#include <sys/types.h>

#include "../../base/why.h"

#define CROWD_MAX 16	/* as MaxConnectionsPerSource= of gpuhelper.socket */

/*
 * Takes one of the user's places, which this process then has until it ends. Root needs none.
 * - 0: it has one.
 * - 1: all are taken. The helper must end without an answer, as systemd closes excess connections;
 *   gpuhelper-runc asks again.
 * - -1 with *why: no place can be made. The user's helpers can't be counted then, so the request must be refused.
 * Other limits do not suffice. systemd counts connections by user only since version 256; before, one user could take
 * all connections. RLIMIT_NPROC counts the caller's processes, and a setuid helper is root's.
 */
int crowd_enter(uid_t uid, struct why *why);

/*
 * True if this process may live on while the runtime makes a container. At most half of the user's places may be
 * taken by such processes. Root has as many places for them.
 */
bool crowd_may_stay(uid_t uid);

/*
 * The descriptor of that place; -1: there is none. A process with a copy of it keeps the place, too: so a child that
 * can't be ended counts as its user's (spawn.h).
 */
int crowd_place(void);

#endif
