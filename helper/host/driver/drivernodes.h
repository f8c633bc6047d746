/*
 * Device nodes beyond those in gpu.h's tables, for rules with a CDI kind: which of them a container gets
 * (gpu/extranode.h). They come from the GPU's own CDI device. For each word of the rule's «nodes» of which the
 * GPU's device has no node, they come from the CDI devices of that word's kind. An IMEX channel needs no spec: its
 * number is enough.
 */
#ifndef GPUHELPER_HOST_DRIVER_DRIVERNODES_H
#define GPUHELPER_HOST_DRIVER_DRIVERNODES_H

#include "driverfiles.h"

/*
 * Adds these nodes to *out. The spec does not decide who may use a node (fileMode, uid and additionalGids are
 * ignored): root/node/device.c does, for all nodes alike. Looks at nodes, opens none. Returns 0, or -1 with *why
 * if a node is not what the spec says, this rule can't grant it, or the host lacks the IMEX channel.
 */
int driver_nodes(const struct driver_question *q, struct extra_nodes *out, struct why *why);

#endif
