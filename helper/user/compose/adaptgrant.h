/* Adapts a grant to the runtime that will apply it. */
#ifndef GPUHELPER_USER_COMPOSE_ADAPTGRANT_H
#define GPUHELPER_USER_COMPOSE_ADAPTGRANT_H

#include "../../lease/edits.h"
#include "../spec/spec.h"

/*
 * Changes *e so that this runtime («runtime» is its path) does what was granted. Returns 0, or -1 with *why
 * if the runtime or the kernel can't.
 */
int adapt_grant(const char *runtime, const struct spec *s, struct edits *e, struct why *why);

#endif
