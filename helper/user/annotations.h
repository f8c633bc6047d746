/* The annotations of a config.json. */
#ifndef GPUHELPER_USER_ANNOTATIONS_H
#define GPUHELPER_USER_ANNOTATIONS_H

#include "spec.h"

/*
 * Refuses what the runtime would take for an order of its engine's.  «by_root»: the
 * host's root has the container made.  -1 with *why.
 */
int annotations_check(const struct spec *s, bool by_root, struct why *why);

#endif
