/*
 * Annotations of a config.json that are orders to the runtime or, through it, to systemd. The author of the
 * task or of the image chooses them; podman takes them from its users, too. As of runc 1.1 to 1.4 (specconv,
 * criu) and crun 1.8 to 1.28 (crun(1); container.c, linux.c, cgroup-systemd.c, criu.c, handlers).
 */
#ifndef GPUHELPER_USER_PRIVILEGE_ANNOTATIONKEYS_H
#define GPUHELPER_USER_PRIVILEGE_ANNOTATIONKEYS_H

#include <stdbool.h>

/*
 * True if a container may have an annotation with this key. A key with the prefix of such orders is refused,
 * unless it is known not to affect where the container's processes are, or what root writes, runs or loads.
 * «by_root»: the host's root creates the container.
 */
bool annotation_is_allowed(const char *key, bool by_root);

#endif
