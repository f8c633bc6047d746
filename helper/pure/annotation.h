/*
 * Annotations of a config.json that are no notes: the runtime, or systemd through
 * it, takes them for orders.  Their author is whoever wrote the task, or an image
 * (podman takes them from its users).  By runc 1.1 to 1.4 (specconv, criu) and crun
 * 1.8 to 1.28 (crun(1); container.c, linux.c, cgroup-systemd.c, criu.c, handlers).
 */
#ifndef GPUHELPER_PURE_ANNOTATION_H
#define GPUHELPER_PURE_ANNOTATION_H

#include <stdbool.h>

/*
 * True if a container may have an annotation of this key.  What begins as the
 * orders do is refused unless it is known to change nothing that others depend on:
 * where the container's processes are, what root writes, runs or loads.  «By_root»:
 * the host's root has the container made.
 */
bool annotation_is_allowed(const char *key, bool by_root);

#endif
