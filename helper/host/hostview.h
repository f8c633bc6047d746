/* Is what lies at a path what the host has there?  Services and sessions may have mounts of their own. */
#ifndef GPUHELPER_HOST_HOSTVIEW_H
#define GPUHELPER_HOST_HOSTVIEW_H

#include "../pure/why.h"

/* 0: it is the same file, 1: there is none, neither here nor there.  -1 with *why, whose code is given. */
int hostview_compare(const char *path, enum why_code code, struct why *why);

#endif
