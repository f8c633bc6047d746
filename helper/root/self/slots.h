/* Limits how many helpers one user has at a time, whether by the socket or by the setuid bit. */
#ifndef GPUHELPER_ROOT_SELF_SLOTS_H
#define GPUHELPER_ROOT_SELF_SLOTS_H

#include <stdbool.h>
#include <sys/types.h>

#include "../../base/why.h"

#define SLOTS_MAX 16	/* as MaxConnectionsPerSource= of gpuhelper.socket */

/*
 * Takes one of the user's slots, which this process then has until it ends. Root needs none.
 * - 0: it has one.
 * - 1: all are taken. The helper must end without an answer, as systemd closes excess connections;
 *   gpuhelper-runc asks again.
 * - -1 with *why: no slot can be made. The user's helpers can't be counted then, so the request must be refused.
 * Other limits do not suffice. systemd counts connections by user only since version 256; before, one user could take
 * all connections. RLIMIT_NPROC counts the caller's processes, and a setuid helper is root's.
 */
int slot_take(uid_t uid, struct why *why);

/*
 * True if this process may live on while the runtime makes a container. At most half of the user's slots may be
 * taken by such processes. Root has as many for them.
 */
bool slot_may_stay(uid_t uid);

/*
 * The descriptor of that slot; -1: there is none. A process with a copy of it keeps the slot, too: so a child that
 * can't be ended counts as its user's (spawn.h).
 */
int slot_fd(void);

#endif
