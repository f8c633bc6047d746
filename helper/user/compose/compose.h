/*
 * Composes the new config.json: takes away what could leak a GPU, adds what was granted, and keeps the rest
 * as it was.
 */
#ifndef GPUHELPER_USER_COMPOSE_COMPOSE_H
#define GPUHELPER_USER_COMPOSE_COMPOSE_H

#include "../../lease/edits.h"
#include "../../policy/settings.h"
#include "../spec/spec.h"

/*
 * Returns the text of the new config.json, which the caller frees, or NULL with *why. «grant» holds the changes:
 * for a plain container an SELinux label at most; NULL means none. «hide» is false for a privileged container that
 * may keep its devices. Marks the devices and mounts of *s that the container loses (removed.h).
 */
char *compose(struct spec *s, const struct devmajors *majors, const struct edits *grant, bool hide, size_t *len,
    struct why *why);

#endif
