/* The mounts of containers, of whichever there are. */
#ifndef GPUHELPER_HOST_CONTAINERS_H
#define GPUHELPER_HOST_CONTAINERS_H

#include "mounts.h"

/*
 * Shows the test every mount that a thread of a container (home.h) reaches from its
 * root directory, until the test is true.  True then, and where something can't be
 * seen.  Processes that this one has no right to look at are passed over: for a user,
 * those of others.
 */
bool containers_mount_any(mount_test *test, void *ctx);

#endif
