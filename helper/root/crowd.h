/* How many helpers of one user there are at a time, whichever door they came by. */
#ifndef GPUHELPER_ROOT_CROWD_H
#define GPUHELPER_ROOT_CROWD_H

#include <stdbool.h>
#include <sys/types.h>

#define CROWD_MAX 16	/* gpuhelper.socket: MaxConnectionsPerSource= */

/*
 * Takes one of the user's places, which this process then has until it ends, however
 * it does.  False: all are taken; it is to end without an answer, as systemd closes
 * connections that are too many, and gpuhelper-runc asks again.  For the socket:
 * systemd counts users from version 256 on; before, the connections of one could be
 * all that it takes from anyone.  For the setuid bit: RLIMIT_NPROC counts what is the
 * caller's, and a helper is root's.  Root is not counted.
 */
bool crowd_admits(uid_t uid);

#endif
