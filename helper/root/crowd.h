/* How many connections of one user are answered at a time. */
#ifndef GPUHELPER_ROOT_CROWD_H
#define GPUHELPER_ROOT_CROWD_H

#include <stdbool.h>
#include <sys/types.h>

#define CROWD_MAX 16	/* gpuhelper.socket: MaxConnectionsPerSource= */

/*
 * Takes one of the user's places, which this process then has until it ends.
 * False: all are taken; the connection is to be closed unanswered, as systemd closes
 * those that are too many, and gpuhelper-runc asks again.  systemd counts users
 * from version 256 on; before, the connections of one could be all that it takes
 * from anyone.  Root is not counted.
 */
bool crowd_admits(uid_t uid);

#endif
