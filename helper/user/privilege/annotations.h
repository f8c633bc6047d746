/* The annotations of a container's config.json. */
#ifndef GPUHELPER_USER_PRIVILEGE_ANNOTATIONS_H
#define GPUHELPER_USER_PRIVILEGE_ANNOTATIONS_H

#include "../spec/spec.h"

/*
 * Refuses annotations by which an engine gives orders to the runtime. «by_root» is true if the host's root
 * has the container made. Returns 0, or -1 with *why.
 */
int annotations_check(const struct spec *s, bool by_root, struct why *why);

#endif
