/* Device nodes of the host, by path and device number. */
#ifndef GPUHELPER_ROOT_NODE_NODE_H
#define GPUHELPER_ROOT_NODE_NODE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "../../base/why.h"

/*
 * Opens a node's directory, which only root may change, and gets the node's name in it. The descriptor is valid until
 * the next call; the caller must not close it. -1 with *why: WHY_ABSENT if the directory does not exist.
 */
int node_parent(const char *path, const char **name, struct why *why);

/*
 * Pins the node (O_PATH), checks its number, and gets its status. Returns a descriptor, which the caller closes.
 * -1 with *why: WHY_ABSENT if something else is in its place, WHY_IO if the host has something else there than this
 * process sees (hostview.h). -2 with *why: nothing is there.
 */
int node_pin(const char *path, uint32_t major, uint32_t minor, struct stat *st, struct why *why);

/*
 * Gets the node's mode as it would be without an ACL: its group bits are what its owning group may do.
 * False: its ACL can't be read.
 */
bool node_mode(int fd, const struct stat *st, uint32_t *mode);

#endif
