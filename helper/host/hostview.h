/*
 * Whether a path leads to the same file here as on the host. Services and sessions may have mounts of their
 * own.
 */
#ifndef GPUHELPER_HOST_HOSTVIEW_H
#define GPUHELPER_HOST_HOSTVIEW_H

#include "../base/why.h"

/*
 * Returns 0 for the same file, 1 if there is no such file either here or on the host, -1 with *why, whose code is
 * «code».
 */
int hostview_compare(const char *path, enum why_code code, struct why *why);

#endif
