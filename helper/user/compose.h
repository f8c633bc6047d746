/* The new config.json: what could leak a GPU taken away, what was granted put in, all else as it was. */
#ifndef GPUHELPER_USER_COMPOSE_H
#define GPUHELPER_USER_COMPOSE_H

#include "../pure/edits.h"
#include "../pure/settings.h"
#include "spec.h"

/*
 * The text of the new config.json, which the caller frees; NULL with *why.
 * grant is NULL for a plain container.  «hide» false: a privileged container
 * that may keep the devices it has.
 */
char *compose(const struct spec *s, const struct devmajors *majors, const struct edits *grant, bool hide, size_t *len,
    struct why *why);

#endif
