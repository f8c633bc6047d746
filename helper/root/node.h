/* A device node of the host, by its path and its number. */
#ifndef GPUHELPER_ROOT_NODE_H
#define GPUHELPER_ROOT_NODE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "../pure/why.h"

/*
 * A node's directory, which only root may change, and the node's name in it.  The descriptor is good until the next
 * call, and not to be closed.  -1 with *why: WHY_ABSENT where the directory is not there.
 */
int node_parent(const char *path, const char **name, struct why *why);

/*
 * Pins a node that is of this number.  -1 with *why: WHY_ABSENT where something else is there, WHY_IO where the
 * host has something else there (hostview.h).  -2 where nothing is.
 */
int node_pin(const char *path, uint32_t major, uint32_t minor, struct stat *st, struct why *why);

/* The node's mode without what ACLs make of it: its group bits are what its group may do.  False: can't be read. */
bool node_mode(int fd, const struct stat *st, uint32_t *mode);

#endif
